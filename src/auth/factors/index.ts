// The public interface of second factors.
export { SecondStepInput } from './factor.input.js';
export { FactorsModule, SecondFactorsModule } from './factors.module.js';
export { LoginSteps, SecondStepRequired } from './login-steps.js';
export { SecondFactors, WRONG_CODE } from './second-factors.js';
