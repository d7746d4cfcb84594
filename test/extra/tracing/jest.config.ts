import type { Config } from 'jest';
import { PROJECT, RUN } from '../../../jest.config.ts';

/** Settings for the test of traces, whose packages are those of `deploy/tracing`. */
const config: Config = { ...RUN, ...PROJECT, testMatch: ['<rootDir>/test/extra/tracing/*.e2e-spec.ts'] };
export default config;
