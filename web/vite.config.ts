import { defineConfig } from 'vite';

/** Builds both pages into one folder; `tools/build-pages.ts` puts it where the service serves it. */
export default defineConfig({
  root: import.meta.dirname,
  // The pages may be served below a path.
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    emptyOutDir: true,
    // Only the console for staff has react-admin, whose size is no surprise.
    chunkSizeWarningLimit: 2000,
    // The policy of the pages refuses inline scripts.
    modulePreload: { polyfill: false },
    rollupOptions: {
      // Directives of React's server components mean nothing in a browser.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
      input: ['account', 'admin'].map((page) => `${import.meta.dirname}/${page}.html`),
    },
  },
});
