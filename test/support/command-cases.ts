import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from './command.js';
import { queryStore } from './rows.js';
import { ANY_STORE, createStore, ifEmbedded, STORES, type TestStore } from './stores.js';

type Call = readonly [name: string, parameters: readonly string[]];

/** What to run, by what it does. */
interface Cases {
  readonly printUsage: readonly string[];
  readonly rejectOldSchema: readonly Call[];
  readonly nameDatabase: readonly Call[];
  readonly askToCreate: readonly Call[];
  /** Each call has an input, and a part of its output. */
  readonly createDatabase: readonly (readonly [...Call, input: string, output: string])[];
  /** Each call has the first line of its output. */
  readonly reportMistakes: readonly (readonly [...Call, line: string])[];
}

/** Tests what all commands promise: their usage, and what they do when the schema is old or the database is absent. */
export function describeCommands(title: string, cases: Cases): void {
  describe.each(STORES)(`${title} on %s`, (store) => {
    let testStore: TestStore;
    beforeEach(async () => {
      testStore = await createStore(store);
    });
    afterEach(() => testStore.remove());

    const run = (name: string, parameters: readonly string[] = []) =>
      runCommand(name, parameters, { environment: testStore.environment });

    it.each(cases.printUsage)('%s --help prints its usage, and changes nothing', async (name) => {
      const empty = await createStore(store, { empty: true });
      for (const each of [testStore, empty]) {
        const before = await rowCountsOf(each);
        for (const flag of ['--help', '-h']) {
          const { code, output } = await runCommand(name, [flag], each);
          expect([code, output]).toEqual([0, expect.stringMatching(/^Usage: npm run /)]);
        }
        const { code, output } = await runCommand(name, ['--frobnicate'], each);
        expect([code, output]).toEqual([
          1,
          expect.stringContaining("Unknown option '--frobnicate'\n\nUsage: npm"),
        ]);
        expect(await rowCountsOf(each)).toEqual(before);
      }
      expect(await rowCountsOf(empty)).toEqual({});
      await empty.remove();
    });

    it.each(cases.rejectOldSchema)(
      '%s %j rejects an older schema, and does not change it',
      async (...call) => {
        const migrations = 'SELECT name FROM migrations ORDER BY id';
        const before = await queryStore(
          testStore,
          'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)',
          migrations,
        );

        const { code, output } = await run(...call);

        expect(code).toBe(1);
        expect(output).toMatch(
          /The schema of the database is older than this build \(.+\): 1 migration is pending; run npm run migrate first\n$/,
        );
        expect(await queryStore(testStore, migrations)).toEqual(before);
      },
    );

    it('name the database before they write, without its password', async () => {
      const { DATA_DIR, DATABASE_URL } = testStore.environment;
      const { host, pathname } = new URL(DATABASE_URL ?? 'file:///');
      const place = store === 'SQLite' ? `SQLite in ${DATA_DIR}` : `PostgreSQL at ${host}${pathname}`;
      for (const [name, parameters] of cases.nameDatabase) {
        const { code, output } = await run(name, parameters);
        expect([name, code, output.split('\n', 1)[0]]).toEqual([name, 0, `Database: ${place}`]);
      }
    });
  });

  ifEmbedded(describe)(`${title} without a database`, () => {
    let store: TestStore;
    beforeEach(async () => {
      store = await createStore(ANY_STORE, { empty: true });
    });
    afterEach(() => store.remove());

    const run = (name: string, parameters: readonly string[], input = '') =>
      runCommand(name, parameters, { environment: store.environment, input });
    const isThere = () => existsSync(fileOf(store));

    it.each(cases.askToCreate)('%s %j asks before it creates one', async (name, parameters) => {
      for (const input of ['', 'n\n', 'secret\n']) {
        const { code, output } = await run(name, parameters, input);
        expect([code, output.split('\n')]).toEqual([
          1,
          [
            `Database: SQLite in ${store.environment['DATA_DIR']}`,
            'There is no database there yet; this command creates a new one.',
            'Create a new database? (y/N) ',
            'Cancelled, nothing was changed; answer y, or pass --yes to skip the question',
            '',
          ],
        ]);
        expect(isThere()).toBe(false);
      }
    });

    it.each(cases.createDatabase)(
      '%s %j creates one after the answer %j',
      async (name, parameters, input, part) => {
        const { code, output } = await run(name, parameters, input);

        expect([code, output]).toEqual([0, expect.stringContaining(part)]);
        expect((await run('audit', [])).code).toBe(0);
      },
    );

    it.each(cases.reportMistakes)('%s %j reports the mistake first', async (name, parameters, line) => {
      const { code, output } = await run(name, parameters, 'y\n');

      expect(code).toBe(1);
      expect(output.split('\n', 1)[0]).toBe(line);
      expect(isThere()).toBe(false);
    });
  });
}

const fileOf = ({ environment }: TestStore): string => join(environment['DATA_DIR']!, 'database.sqlite');

/** The number of rows in each table. */
async function rowCountsOf(store: TestStore): Promise<Record<string, number>> {
  const isEmbedded = store.environment['DATABASE_URL'] === undefined;
  if (isEmbedded && !existsSync(fileOf(store))) return {};
  const tables: { name: string }[] = await queryStore(
    store,
    isEmbedded
      ? `SELECT name FROM sqlite_master WHERE type = 'table'`
      : `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  if (tables.length === 0) return {};
  const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*) AS count FROM "${name}"`);
  const rows = await queryStore(store, counts.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, count }) => [name, Number(count)]));
}
