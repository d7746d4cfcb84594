import { defineConfig } from 'vitest/config';

/** Tests with a mocked module, or with entities: Nest adds them to every later database of the process. */
const ISOLATED = [
  'src/webhooks/webhook-request.spec.ts',
  'test/audit-transactions.e2e-spec.ts',
  'test/recipes/application.e2e-spec.ts',
  'test/recipes/guide/{cleanup,exports,statistics}.e2e-spec.ts',
  'test/recipes/typeorm/{entities,nest-documentation,relations}.e2e-spec.ts',
];
/** Tests with strategies and GraphQL types, which a process never forgets either; their names differ. */
const RECIPES = ['test/recipes/**/*.e2e-spec.ts'];
const TESTS = ['{src,test}/**/*.{spec,e2e-spec}.ts'];

/**
 * Many tests wait for a timer or a database, and leave the processor to others. A run of named files uses two processes:
 * loading the application in six takes longer than a few files.
 */
const WORKERS = process.argv.slice(3).some((word) => !word.startsWith('-')) ? 2 : 6;

export default defineConfig({
  // What Node loads for Nest as well: the other copy of `graphql` does not know the types of a schema of this one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/matchers.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: WORKERS,
    restoreMocks: true,
    reporters: ['default', './test/support/slowest-files.ts'],
    projects: [
      // Loading the application takes longer than most tests do: one process loads it once for all its files.
      {
        extends: true,
        test: { name: 'app', include: TESTS, exclude: [...RECIPES, ...ISOLATED], isolate: false },
      },
      { extends: true, test: { name: 'recipes', include: RECIPES, exclude: ISOLATED, isolate: false } },
      { extends: true, test: { name: 'isolated', include: ISOLATED } },
    ],
  },
});
