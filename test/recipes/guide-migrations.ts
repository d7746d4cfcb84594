import { existsSync, globSync } from 'node:fs';
import { resolve } from 'node:path';
import { migrations } from '../../src/platform/database/migrations/index.js';

/**
 * The service runs the migrations of the recipes, too, as if they were in its own folder, unless it has the module that a
 * recipe is named for.
 */
for (const file of globSync('test/recipes/guide/platform/database/migrations/*.ts').toSorted()) {
  if (existsSync(/task/.test(file) ? 'src/tasks' : 'src/roles')) continue;
  const [migration] = Object.values(
    (await import(resolve(file))) as Record<string, (typeof migrations)[number]>,
  );
  if (!migrations.some(({ name }) => name === migration!.name)) migrations.push(migration!);
}
