import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { migrations } from '../../src/platform/database/migrations/index.js';

/** The service runs the migrations of the recipes, too, as if they were in its own folder. */
for (const file of globSync('test/recipes/guide/platform/database/migrations/*.ts').toSorted()) {
  const [migration] = Object.values(
    (await import(resolve(file))) as Record<string, (typeof migrations)[number]>,
  );
  if (!migrations.some(({ name }) => name === migration!.name)) migrations.push(migration!);
}
