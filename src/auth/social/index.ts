// What the rest of the service may know of social login.
export { SocialModule } from './social.module.js';
