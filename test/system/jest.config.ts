import type { Config } from 'jest';
import { PROJECT, RUN } from '../../jest.config.ts';

/** Settings for the tests of whole processes. They are separate from `npm test`, because they take minutes. */
const config: Config = {
  ...RUN,
  ...PROJECT,
  testMatch: ['<rootDir>/test/system/*.system-spec.ts'],
  maxWorkers: 2,
};
export default config;
