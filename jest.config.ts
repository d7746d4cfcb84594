import type { Config } from 'jest';

/**
 * Many tests wait for a timer or a database, and leave the processor to others. A run of named files uses two processes:
 * loading the application in four takes longer than a few files.
 */
const WORKERS = process.argv.slice(2).some((word) => !word.startsWith('-')) ? 2 : 4;

/** How tests run, for every configuration. */
export const RUN = {
  testTimeout: 120_000,
  waitForUnhandledRejections: true,
  // Beside other work, a process may need more than the default of 500 ms to exit.
  workerGracefulExitTimeout: 5000,
  // Tests always run in other processes than Jest, unless `--runInBand` is given.
  workerIdleMemoryLimit: '4GB',
} satisfies Config;

/** How files are loaded, for every configuration. */
export const PROJECT = {
  rootDir: import.meta.dirname,
  runtime: '<rootDir>/test/jest/runtime.ts',
  testEnvironment: '<rootDir>/test/jest/environment.ts',
  globalSetup: '<rootDir>/test/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/jest/global-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/matchers.ts'],
  restoreMocks: true,
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2024',
        },
      },
    ],
  },
  // Node itself loads these; it removes the types.
  transformIgnorePatterns: ['/node_modules/', '<rootDir>/test/jest/(?!.*spec)'],
  // The second is the folder of a build that was stopped, until the next one removes it.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/\\.build-'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  // For `--findRelatedTests` and `--watch`, which follow the imports.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  dependencyExtractor: '<rootDir>/test/jest/dependencies.ts',
} satisfies Config;

const config: Config = {
  ...RUN,
  ...PROJECT,
  maxWorkers: WORKERS,
  reporters: ['default', '<rootDir>/test/jest/progress.ts'],
  testMatch: ['<rootDir>/{src,test}/**/*.{spec,e2e-spec}.ts'],
  // `npm run test:extra` runs them: packages of their own, and examples of others' documentation.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(extra|recipes)/'],
};
export default config;
