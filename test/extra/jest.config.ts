import type { Config } from 'jest';
import { PROJECT, RUN } from '../../jest.config.ts';

/** Settings for the tests with clients and tools of others, which have packages of their own. */
const config: Config = {
  ...RUN,
  ...PROJECT,
  testMatch: ['<rootDir>/test/extra/*.e2e-spec.ts'],
  maxWorkers: 2,
};
export default config;
