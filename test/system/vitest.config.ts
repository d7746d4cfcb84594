import { defineConfig } from 'vitest/config';

/** Settings for the tests of whole processes. They are separate from `npm test`, because they take minutes. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  // As in `vitest.config.ts`: one copy of `graphql` for all modules.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/system/*.system-spec.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/matchers.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    restoreMocks: true,
  },
});
