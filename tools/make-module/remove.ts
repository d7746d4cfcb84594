import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRegistered, remove, renewContracts, unregister, write } from './files.ts';
import { InputError } from './input-error.ts';
import { pascal, snake } from './names.ts';

const MIGRATIONS = 'src/platform/database/migrations';

/**
 * Removes a module. Its migration stays, because databases have run it; a new one drops the table.
 *
 * @throws InputError for a module that others use, and for one that `make:module` has not created
 */
export async function removeModule(files: string): Promise<void> {
  const name = pascal(files);
  const folder = `src/${files}`;
  const events = globSync(`${folder}/*.events.ts`);
  const created = createdBy(snake(files));
  const stamp = /\d+/.exec(created ?? '')?.[0];
  const isGenerated =
    created !== undefined && readFileSync(created, 'utf8').includes(`class ${name}${stamp} `);
  if (!isRegistered(files, name) || events.length !== 1 || !isGenerated)
    throw new InputError(`"${files}" cannot be removed: it is not a module that make:module has created`);
  const users = filesThat(new RegExp(`['"]\\.{1,2}/(?:[^'"]*/)?${files}/[^'"]+['"]`), folder);
  const others = users.filter((file) => file !== 'src/app.module.ts' && file !== testOf(files));
  if (others.length > 0)
    throw new InputError(`"${files}" cannot be removed: it is used by ${others.join(', ')}`);

  const file = basename(events[0]!, '.events.ts');
  const subscribers = namesOfSubscribers(folder);
  remove(folder);
  if (existsSync(testOf(files))) remove(testOf(files));
  unregister(files, name);
  const now = Date.now();
  write(
    `${MIGRATIONS}/${now}-remove-${files}.ts`,
    migration(name, snake(files), basename(created, '.ts'), now),
  );
  renewContracts();
  const leftOvers = [...usersOf(file), ...(await inDatabase(file, subscribers))];
  console.log(nextSteps(files, leftOvers));
}

const testOf = (files: string): string => `test/${files}.e2e-spec.ts`;

/** The migration that created a table, unless a later one has dropped it. */
export function createdBy(table: string): string | undefined {
  const files = globSync(`${MIGRATIONS}/*.ts`).toSorted();
  const creates = new RegExp(`CREATE (VIRTUAL )?TABLE ${table}\\b`);
  const created = files.filter((file) => creates.test(readFileSync(file, 'utf8')));
  const removed = files.filter((file) => file.endsWith(`-remove-${table.replaceAll('_', '-')}.ts`));
  return created.length > removed.length ? created.at(-1) : undefined;
}

function migration(name: string, table: string, created: string, now: number): string {
  const stamp = created.slice(0, created.indexOf('-'));
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ${name}${stamp} } from './${created}.js';

/** Drops the table with its rows. */
export class Remove${name}${now} implements MigrationInterface {
  /** By the previous release. */
  readonly unused = ['${table}'];

  async up(runner: QueryRunner): Promise<void> {
    await new ${name}${stamp}().down(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new ${name}${stamp}().up(runner);
  }
}
`;
}

const nextSteps = (files: string, leftOvers: readonly string[]): string => `
${leftOvers.length > 0 ? `Stays behind:\n${leftOvers.map((each) => `- ${each}\n`).join('')}\n` : ''}Next:
1. npm run check
2. With replicas, leave the new migration out of this release, and add it to the next one: until then, replicas of the
   previous release read the table.
3. docs/extending.md, "Remove a module": what to check in the database of production.`;

/** Other files that name events of the module, such as \`comment.created\`. */
const usersOf = (file: string): string[] =>
  filesThat(new RegExp(`['"]${file}\\.(\\w+|\\*)['"]`)).map((path) => `${path} names events of ${file}`);

const filesThat = (pattern: RegExp, except = ''): string[] =>
  globSync('{src,test,bench,examples}/**/*.ts')
    .filter((path) => except === '' || !path.startsWith(`${except}/`))
    .filter((path) => pattern.test(readFileSync(path, 'utf8')));

/** The names of the durable subscribers of a folder; their positions stay in the database. */
const namesOfSubscribers = (folder: string): string[] =>
  globSync(`${folder}/*.ts`).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/@OnDurableEvent\(\{[^}]*\bname: '([^']+)'/g)].map(
      ([, each]) => each!,
    ),
  );

/** What the configured database has, if there is one. */
async function inDatabase(file: string, subscribers: readonly string[]): Promise<string[]> {
  const load = (path: string) => import(pathToFileURL(`dist/${path}`).href);
  const { loadStoreConfig, describeStore } = await load('platform/config/store.js');
  const { readEnvFile } = await load('platform/config/env-file.js');
  const { commandDataSource, isMissing } = await load('platform/database/data-source.js');
  readEnvFile(process.env);
  const config = loadStoreConfig(process.env);
  const where = describeStore(config.store);
  if (isMissing(config.store)) return [];
  try {
    const source = await commandDataSource(config).initialize();
    const webhooks: { id: number; url: string; types: string }[] =
      await source.query('SELECT * FROM webhooks');
    const positions: { name: string }[] = await source.query('SELECT name FROM event_subscribers');
    await source.destroy();
    return [
      ...webhooks
        .filter(({ types }) => types.includes(`"${file}.`))
        .map(
          ({ id, url, types }) => `webhook ${id} to ${url}, with ${JSON.parse(types).join(', ')} (${where})`,
        ),
      ...positions
        .filter(({ name }) => subscribers.includes(name))
        .map(({ name }) => `the position of the durable subscriber ${name} (${where})`),
    ];
  } catch (error) {
    return [`what may be in ${where}, which cannot be read: ${(error as Error).message}`];
  }
}
