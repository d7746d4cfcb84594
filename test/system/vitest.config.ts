import { defineConfig } from 'vitest/config';

/** Tests of whole processes, for `processes.ts`: what they start is not part of `npm test`, which would take minutes longer. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  // As in `vitest.config.ts`: one copy of `graphql` for all.
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
