// The public interface of logins in two steps.
export { SecondStepInput } from './factor.input.js';
export { FactorsModule } from './factors.module.js';
export { LoginSteps, SecondStepRequired, WRONG_VERIFIER } from './login-steps.js';
