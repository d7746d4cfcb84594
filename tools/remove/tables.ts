import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { write } from '../make-module/files.ts';
import { InputError } from '../make-module/input-error.ts';
import { pascal } from '../make-module/names.ts';

const MIGRATIONS = 'src/platform/database/migrations';

/** The migration that created a table, unless a later one has dropped it. */
export function createdBy(table: string): string | undefined {
  const files = globSync(`${MIGRATIONS}/*.ts`).toSorted();
  const having = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, 'utf8')));
  const created = having(new RegExp(`CREATE (VIRTUAL )?TABLE ${table}\\b`));
  const dropped = having(new RegExp(`readonly unused = \\[.*'${table}'`));
  return created.length > dropped.length ? created.at(-1) : undefined;
}

/** Adds a migration that drops the tables of a module. @throws InputError unless one migration creates only these */
export function dropTables(files: string): void {
  const tables = globSync(`src/${files}/*.entity.ts`).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/@Entity\('(\w+)'/g)].map(([, table]) => table!),
  );
  const [created, ...more] = new Set(tables.map(createdBy));
  const text = created === undefined ? '' : readFileSync(created, 'utf8');
  const others = [...text.matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g)].filter(
    ([, table]) => !tables.includes(table!),
  );
  if (created === undefined || more.length > 0 || others.length > 0)
    throw new InputError(`"${files}" cannot be removed: no migration creates its tables, and only these`);
  const former = /export class (\w+)/.exec(text)![1]!;
  const now = Date.now();
  write(
    `${MIGRATIONS}/${now}-remove-${files}.ts`,
    `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ${former} } from './${basename(created, '.ts')}.js';

/** Drops the tables of ${files} with their rows. */
export class Remove${pascal(files)}${now} implements MigrationInterface {
  /** By the previous release. */
  readonly unused = [${tables.map((table) => `'${table}'`).join(', ')}];

  async up(runner: QueryRunner): Promise<void> {
    await new ${former}().down(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new ${former}().up(runner);
  }
}
`,
  );
}
