import { defineConfig } from 'vitest/config';

/** Tests with entities, strategies, GraphQL types or mocked modules of their own, which a process never forgets. */
const ISOLATED = [
  'test/recipes/**/*.e2e-spec.ts',
  'test/audit-transactions.e2e-spec.ts',
  'src/webhooks/webhook-request.spec.ts',
];
const TESTS = ['{src,test}/**/*.{spec,e2e-spec}.ts'];

export default defineConfig({
  // What Node loads for Nest as well: the other copy of `graphql` does not know the types of a schema of this one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/matchers.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Some tests wait for a timer or for the database, and leave the processor to the others.
    maxWorkers: 4,
    restoreMocks: true,
    reporters: ['default', './test/support/slowest-files.ts'],
    projects: [
      // Loading the application takes longer than most tests do: one process loads it once for all its files.
      { extends: true, test: { name: 'app', include: TESTS, exclude: ISOLATED, isolate: false } },
      {
        extends: true,
        test: { name: 'isolated', include: ISOLATED },
      },
    ],
  },
});
