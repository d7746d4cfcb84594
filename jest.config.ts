import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import type { Config } from 'jest';

/** Tests with strategies and GraphQL types of their own, which a process never forgets; their names differ. */
const RECIPES = ['**/test/recipes/**/*.e2e-spec.ts'];
/** Needs the recipes in `src`, and a build of them: `test/projects/recipes.ts` runs it there. */
const BUILT_RECIPES = ['**/test/recipes/guide/fill-command.e2e-spec.ts'];
/**
 * Recipes whose folder the application has, by `npm run recipe` or with a module of its own: they would define its routes
 * and tables a second time.
 */
const TAKEN_RECIPES = globSync('test/recipes/guide/*/', { cwd: import.meta.dirname })
  .map((path) => basename(path))
  .filter((name) => existsSync(`${import.meta.dirname}/src/${name}`))
  // `fill` fills a column of tasks.
  .flatMap((name) => (name === 'tasks' ? ['tasks', 'tasks-v2', 'fill'] : [name]))
  .map((name) => `**/test/recipes/guide/${name}.e2e-spec.ts`);
/** Have packages of their own: `npm run test:extra` runs them. */
const EXTRA = ['**/test/extra/**'];
/**
 * Many tests wait for a timer or a database, and leave the processor to others. A run of named files uses two processes:
 * loading the application in four takes longer than a few files.
 */
const WORKERS = process.argv.slice(2).some((word) => !word.startsWith('-')) ? 2 : 4;

/** Settings of a run. */
export const RUN = {
  testTimeout: 120_000,
  waitForUnhandledRejections: true,
  // Beside other work, a process may need more than the default of 500 ms to exit.
  workerGracefulExitTimeout: 5000,
  // Tests always run in other processes than Jest, unless `--runInBand` is given.
  workerIdleMemoryLimit: '4GB',
} satisfies Config;

/** Settings of a project. */
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
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  // For `--findRelatedTests` and `--watch`, which follow the imports.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  dependencyExtractor: '<rootDir>/test/jest/dependencies.ts',
} satisfies Config;

const config: Config = {
  ...RUN,
  maxWorkers: WORKERS,
  reporters: ['default', '<rootDir>/test/jest/progress.ts'],
  projects: [
    // Projects with the same runner share processes. They run in this order.
    {
      ...PROJECT,
      displayName: 'app',
      testMatch: ['<rootDir>/{src,test}/**/*.{spec,e2e-spec}.ts', ...not([...RECIPES, ...EXTRA])],
    },
    {
      ...PROJECT,
      displayName: 'recipes',
      runner: ['jest-runner', { project: 'recipes' }],
      setupFilesAfterEnv: [...PROJECT.setupFilesAfterEnv, '<rootDir>/test/recipes/guide-migrations.ts'],
      testMatch: [...RECIPES, ...not([...BUILT_RECIPES, ...TAKEN_RECIPES])],
    },
  ],
};
export default config;

function not(paths: readonly string[]): string[] {
  return paths.map((path) => `!${path}`);
}
