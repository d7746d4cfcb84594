// The public interface of social login.
export { LoginCodes, WRONG_LOGIN_CODE } from './login-codes.js';
export { SocialIdentities } from './social-identities.js';
export { IdentitiesModule } from './identities.module.js';
export { SocialSessionInput } from './social.input.js';
export { SocialModule } from './social.module.js';
