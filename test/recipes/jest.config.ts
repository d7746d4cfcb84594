import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import type { Config } from 'jest';
import { PROJECT, RUN } from '../../jest.config.ts';

/** Needs the recipes in `src`, and a build of them: `test/projects/recipes.ts` runs it there. */
const BUILT = ['fill-command'];
/**
 * Recipes whose folder the application has, by `npm run recipe` or with a module of its own: they would define its routes
 * and tables a second time.
 */
const TAKEN = globSync('test/recipes/guide/*/', { cwd: PROJECT.rootDir })
  .map((path) => basename(path))
  .filter((name) => existsSync(`${PROJECT.rootDir}/src/${name}`))
  // `fill` fills a column of tasks.
  .flatMap((name) => (name === 'tasks' ? ['tasks', 'tasks-v2', 'fill'] : [name]));

/**
 * Settings for the examples of others' documentation, and for the recipes of this service's: their strategies and GraphQL
 * types would stay in the processes of other tests.
 */
const config: Config = {
  ...RUN,
  ...PROJECT,
  setupFilesAfterEnv: [...PROJECT.setupFilesAfterEnv, '<rootDir>/test/recipes/guide-migrations.ts'],
  testMatch: [
    '<rootDir>/test/recipes/**/*.{spec,e2e-spec}.ts',
    ...[...BUILT, ...TAKEN].map((name) => `!**/test/recipes/guide/${name}.e2e-spec.ts`),
  ],
  maxWorkers: 2,
};
export default config;
