// The public interface of social login.
export { LoginCode } from './login-code.entity.js';
export { LoginCodes } from './login-codes.js';
export { SocialIdentities } from './social-identities.js';
export { SocialIdentity } from './social-identity.entity.js';
export { SOCIAL_ERASURES, SocialModule } from './social.module.js';
