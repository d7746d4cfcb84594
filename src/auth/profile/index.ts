// The public interface of profiles.
export { AccountAdmin } from './account-admin.js';
export { AccountRemoval } from './account-removal.js';
export { ProfileModule } from './profile.module.js';
