// What the rest of the service may know of what owners and operators do with accounts.
export { AccountAdmin } from './account-admin.js';
export { ProfileModule } from './profile.module.js';
