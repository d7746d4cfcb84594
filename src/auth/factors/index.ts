// The public interface of authenticator apps, and of logins in two steps.
export { challengeOf, LoginSteps, SecondStepRequired, WRONG_VERIFIER } from './login-steps.js';
export { SecondStepInput } from './totp.input.js';
export { TotpModule } from './totp.module.js';
