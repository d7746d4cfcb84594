// The public interface of what is stored about second factors.
export { LoginChallenge } from './login-challenge.entity.js';
export { SecondFactorsModule } from './second-factors.module.js';
export { SecondFactors, WRONG_CODE, wrongCode, wrongLoginCode } from './second-factors.js';
