// What the rest of the service may know of what owners and operators do with accounts.
export { AccountAdmin } from './account-admin.js';
export { AccountRemoval } from './account-removal.js';
export { ProfileModule } from './profile.module.js';
