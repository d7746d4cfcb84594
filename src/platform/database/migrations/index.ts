import { readdir } from 'node:fs/promises';
import type { MigrationInterface } from 'typeorm';

type Migration = new () => MigrationInterface;

/** A migration such as `1795000000001-posts.ts`, or its build; not its SQL for one of the databases. */
const FILE = /^\d+-[\w-]+\.(ts|js)$/;

const folder = new URL('.', import.meta.url);
const files = (await readdir(folder)).filter((name) => FILE.test(name)).toSorted();

/** Every migration of this folder, in the order of their timestamps. */
export const migrations: Migration[] = await Promise.all(
  files.map(async (file) => {
    const [migration, ...more] = Object.values((await import(new URL(file, folder).href)) as object);
    if (typeof migration !== 'function' || more.length > 0)
      throw new Error(`${file} has to export one migration, and nothing else`);
    return migration as Migration;
  }),
);
