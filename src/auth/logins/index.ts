// What the rest of the service may know of logins.
export { Logins } from './logins.js';
export { LoginsModule } from './logins.module.js';
