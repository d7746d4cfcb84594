// The public interface of social login.
export { LoginCodes } from './login-codes.js';
export { SocialIdentities } from './social-identities.js';
export { IdentitiesModule } from './identities.module.js';
export { SocialModule } from './social.module.js';
