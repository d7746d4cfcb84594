// What the rest of the service may know of social login.
export { LoginCode } from './login-code.entity.js';
export { LoginCodes } from './login-codes.js';
export { SocialIdentities } from './social-identities.js';
export { SocialIdentity } from './social-identity.entity.js';
export { SocialModule } from './social.module.js';
