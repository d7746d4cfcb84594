// The public interface of social login.
export { IdentitiesService } from './identities.service.js';
export { LoginCodes, WRONG_LOGIN_CODE } from './login-codes.js';
export { SocialSessionInput } from './social.input.js';
export { SocialModule } from './social.module.js';
