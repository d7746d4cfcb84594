// The public interface of profiles.
export { AccountAdmin } from './account-admin.js';
export { ProfileModule } from './profile.module.js';
