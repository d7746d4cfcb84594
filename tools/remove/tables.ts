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

/**
 * Adds a migration that drops the tables of a module, with those that were created together with them.
 *
 * @param tables of its entities
 * @throws InputError unless one migration creates all of them, and no table that others use
 */
export function dropTables(files: string, tables: readonly string[]): void {
  const [created, ...more] = new Set(tables.map(createdBy));
  const text = created === undefined ? '' : readFileSync(created, 'utf8');
  const all = [...text.matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g)].map(([, table]) => table!);
  const isUsed = globSync('src/**/*.ts', { exclude: ['**/migrations/*', `src/${files}/*`] })
    .map((file) => readFileSync(file, 'utf8'))
    .some((code) => all.some((table) => !tables.includes(table) && new RegExp(`\\b${table}\\b`).test(code)));
  if (created === undefined || more.length > 0 || isUsed)
    throw new InputError(`"${files}" cannot be removed: no migration creates its tables, and only these`);
  const former = /export class (\w+)/.exec(text)![1]!;
  const now = Date.now();
  // The first migration with row versions would drop a function that triggers of other tables use.
  const functions = [...text.matchAll(/'(\w+)'/g)]
    .map(([, name]) => name!)
    .filter((name) => all.some((table) => name.startsWith(`${table}_`)));
  const down = text.includes("'grow_version'")
    ? `for (const table of this.unused) await runner.query(\`DROP TABLE \${table}\`);
    if (isSqlite(runner)) return;
    for (const name of [${functions.map((name) => `'${name}'`).join(', ')}]) await runner.query(\`DROP FUNCTION \${name}\`);`
    : `await new ${former}().down(runner);`;
  write(
    `${MIGRATIONS}/${now}-remove-${files}.ts`,
    `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ${former} } from './${basename(created, '.ts')}.js';
${down.includes('isSqlite') ? "import { isSqlite } from './column-types.js';\n" : ''}
/** Drops the tables of ${files} with their rows. */
export class Remove${pascal(files)}${now} implements MigrationInterface {
  /** By the previous release. */
  readonly unused = [${all.map((table) => `'${table}'`).join(', ')}];

  async up(runner: QueryRunner): Promise<void> {
    ${down}
  }

  async down(runner: QueryRunner): Promise<void> {
    await new ${former}().up(runner);
  }
}
`,
  );
}
