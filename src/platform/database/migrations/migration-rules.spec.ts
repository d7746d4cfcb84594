import { afterEach, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  DataSource,
  EntitySchema,
  type EntitySchemaColumnOptions,
  type MigrationInterface,
  type QueryRunner,
  TableForeignKey,
} from 'typeorm';
import { createApp } from '../../../app.js';
import type { Config } from '../../config/config.js';
import { loadConfig } from '../../config/load-config.js';
import { commandDataSource } from '../data-source.js';
import { migrate } from '../migrate.js';
import { columnTypes } from './column-types.js';
import { createIndexConcurrently } from './concurrent-index.js';
import { migrations } from './index.js';
import { growVersions } from './row-versions.js';
import { explainStartFailure } from '../../operations/start-failure.js';
import { unquotedNames, whyBlocking } from '../../../../test/support/blocking-statements.js';
import { startApi } from '../../../../test/support/api.js';
import {
  createStore,
  ifEmbedded,
  type StoreName,
  STORES,
  type TestStore,
} from '../../../../test/support/stores.js';

/** The last migration of the first release, before which no table exists. */
const LAST = 1795000000008;

type Migration = (typeof migrations)[number];

/** A migration may say which tables and columns that it removes or renames the previous release does not use. */
type WithUnused = MigrationInterface & { readonly unused?: readonly string[] };

const timestampOf = ({ name }: Migration) => Number(/\d+$/.exec(name)![0]);

/** Runs migrations on PostgreSQL. @returns the reasons why those after `LAST` would block */
async function blockingStatements(all: readonly Migration[]): Promise<string[]> {
  const { environment, ...testStore } = await createStore('PostgreSQL', { empty: true });
  const source = await commandDataSource(loadConfig(environment)).initialize();
  const faults: string[] = [];
  const isCheckedNotNull = async (table: string, column: string) => {
    const found: unknown[] = await source.query(
      `SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'c' AND convalidated
         AND pg_get_constraintdef(oid) = 'CHECK ((' || $2 || ' IS NOT NULL))'`,
      [table, column],
    );
    return found.length > 0;
  };
  for (const Each of all) {
    const migration: WithUnused = new Each();
    const unused = new Set(migration.unused);
    const rows: { name: string }[] = await source.query(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    const existing = new Set(rows.map(({ name }) => name));
    const isInTransaction = migration.transaction !== false;
    const runner = source.createQueryRunner();
    const query = runner.query.bind(runner) as (...sent: unknown[]) => Promise<any>;
    runner.query = async (...sent: unknown[]) => {
      const reason = await whyBlocking(String(sent[0]), {
        existing,
        isInTransaction,
        unused,
        isCheckedNotNull,
      });
      if (reason !== undefined && timestampOf(Each) > LAST) faults.push(`${Each.name}: ${reason}`);
      return query(...sent);
    };
    if (isInTransaction) await runner.startTransaction();
    await migration.up(runner);
    if (isInTransaction) await runner.commitTransaction();
    await runner.release();
  }
  await source.destroy();
  await testStore.remove();
  return faults;
}

/** The faults of migrations that run after all others, whatever is wrong with those. */
async function faultsOf(...added: readonly Migration[]): Promise<string[]> {
  const faults = await blockingStatements([...migrations, ...added]);
  return faults.filter((fault) => added.some(({ name }) => fault.startsWith(`${name}: `)));
}

/** A migration that runs after all others. */
const later = (sql: string, { transaction = true, unused = [] as string[] } = {}): Migration =>
  class Later9900000000000 implements MigrationInterface {
    readonly transaction = transaction;
    readonly unused = unused;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(sql);
    }

    async down(): Promise<void> {}
  };

describe('migrations', () => {
  it('keep the service available on large tables', async () => {
    expect(await blockingStatements(migrations)).toEqual([]);
  });

  it.each([
    ['CREATE INDEX sessions_x ON sessions (account_id)', 'createIndexConcurrently'],
    [
      'CREATE UNIQUE INDEX IF NOT EXISTS sessions_x ON "sessions" USING btree (id)',
      'createIndexConcurrently',
    ],
    ['ALTER TABLE idempotency_records ALTER COLUMN status TYPE numeric', 'rewrites'],
    ['ALTER TABLE sessions ADD COLUMN x uuid DEFAULT gen_random_uuid()', 'rewrites'],
    ['ALTER TABLE sessions ADD x bigserial', 'rewrites'],
    ['ALTER TABLE sessions ADD x int, ADD y int GENERATED ALWAYS AS (account_id + 1) STORED', 'rewrites'],
    ['ALTER TABLE sessions ALTER secret_hash SET NOT NULL', 'CHECK (secret_hash IS NOT NULL) NOT VALID'],
    ['ALTER TABLE sessions ADD CONSTRAINT x CHECK (account_id > 0)', 'NOT VALID'],
    ['ALTER TABLE sessions ADD CONSTRAINT x FOREIGN KEY (account_id) REFERENCES accounts (id)', 'NOT VALID'],
    ['ALTER TABLE sessions ADD other_id bigint REFERENCES accounts (id)', 'NOT VALID'],
    ['ALTER TABLE sessions ADD CONSTRAINT x UNIQUE (id, account_id)', 'USING INDEX'],
    ['ALTER TABLE sessions RENAME COLUMN agent TO browser', "unused = ['sessions.agent']"],
    ['ALTER TABLE sessions RENAME agent TO browser', "unused = ['sessions.agent']"],
    [
      'ALTER TABLE sessions ADD x int, DROP COLUMN IF EXISTS "secret_hash" CASCADE',
      "unused = ['sessions.secret_hash']",
    ],
    ['ALTER TABLE "sessions" DROP secret_hash', "unused = ['sessions.secret_hash']"],
    ['ALTER TABLE mails RENAME TO letters', "unused = ['mails']"],
    ['DROP TABLE IF EXISTS "mails"', "unused = ['mails']"],
    ['CREATE TABLE x (); DROP TABLE x, public."mails" CASCADE', "unused = ['mails']"],
    ['CREATE SCHEMA old; ALTER TABLE mails SET SCHEMA old', "unused = ['mails']"],
    [
      'ALTER TABLE sessions ADD CONSTRAINT x CHECK (account_id > 0) NOT VALID; ALTER TABLE sessions VALIDATE CONSTRAINT x',
      'transaction = false',
    ],
  ])('are rejected with %s', async (sql, advice) => {
    const [fault, ...more] = await faultsOf(later(sql));

    expect(more).toEqual([]);
    expect(fault).toMatch(/^Later9900000000000: /);
    expect(fault).toContain(advice);
  });

  it.each([
    'CREATE TABLE x (id int PRIMARY KEY REFERENCES accounts (id)); CREATE INDEX x_id ON x (id)',
    `ALTER TABLE sessions ADD x text NOT NULL DEFAULT 'a', ADD y timestamptz DEFAULT now()`,
    'ALTER TABLE sessions ADD CONSTRAINT x FOREIGN KEY (account_id) REFERENCES accounts (id) NOT VALID',
    'ALTER TABLE sessions ALTER COLUMN secret_hash DROP DEFAULT, DROP CONSTRAINT IF EXISTS x',
  ])('may use %s', async (sql) => {
    expect(await faultsOf(later(sql))).toEqual([]);
  });

  it.each([
    ['sessions.secret_hash', 'ALTER TABLE sessions DROP COLUMN secret_hash'],
    ['sessions.agent', 'ALTER TABLE sessions RENAME COLUMN agent TO browser'],
    ['mails', 'DROP TABLE mails'],
  ])('may take %s away, if they say that the previous release does not use it: %s', async (name, sql) => {
    expect(await faultsOf(later(sql, { unused: [name] }))).toEqual([]);
  });

  it('may use SET NOT NULL after a constraint validated outside of a transaction', async () => {
    const steps = [
      later('ALTER TABLE mails ADD CONSTRAINT x CHECK (created_at IS NOT NULL) NOT VALID'),
      later('ALTER TABLE mails VALIDATE CONSTRAINT x', { transaction: false }),
      later('ALTER TABLE mails ALTER created_at SET NOT NULL'),
    ];

    expect(await faultsOf(...steps)).toEqual([]);
  });
});

ifEmbedded(describe)('migrations on SQLite', () => {
  it.each([
    ['the id', 'CREATE TABLE x (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, note text)'],
    [
      'a foreign key',
      'CREATE TABLE x ("id" integer PRIMARY KEY AUTOINCREMENT, a int, CONSTRAINT a_fkey FOREIGN KEY (a) REFERENCES accounts (id))',
    ],
    ['a nameless foreign key', 'CREATE TABLE x (a integer REFERENCES accounts (id))'],
  ])('are rejected without quotes around the names of %s', (_, sql) => {
    expect(unquotedNames(sql)).toContain('in quotes');
  });

  it('change constraints of existing tables by the statements of the guide', async () => {
    const { environment, ...testStore } = await createStore('SQLite');
    const source = await commandDataSource(loadConfig(environment)).initialize();
    const runner = source.createQueryRunner();
    const { id, integer } = columnTypes(runner);
    await runner.query(
      `CREATE TABLE x ("id" ${id}, owner_id ${integer}, n ${integer}, version integer NOT NULL DEFAULT 1)`,
    );
    await runner.query(`CREATE TABLE owners ("id" ${id})`);
    await runner.query('INSERT INTO owners (id) VALUES (1)');
    await growVersions(runner, 'x');
    await runner.query('INSERT INTO x (owner_id, n) VALUES (1, 1)');

    await runner.query('ALTER TABLE x ALTER COLUMN n SET NOT NULL');
    await runner.query('ALTER TABLE x ADD CONSTRAINT "x_n" CHECK (n > 0)');
    const key = { name: 'x_owner_id_fkey', columnNames: ['owner_id'], referencedTableName: 'owners' };
    await runner.createForeignKey('x', new TableForeignKey({ ...key, referencedColumnNames: ['id'] }));
    await growVersions(runner, 'x');
    const failing = ['n = NULL', 'n = 0', 'owner_id = 99'].map((change) => `UPDATE x SET ${change}`);
    for (const sql of failing) await expect(runner.query(sql)).rejects.toThrow('constraint failed');
    await runner.query('UPDATE x SET n = 2');

    expect(await runner.query('SELECT * FROM x')).toEqual([{ id: 1, owner_id: 1, n: 2, version: 2 }]);
    await runner.release();
    await source.destroy();
    await testStore.remove();
  });

  it('have quotes around the names that TypeORM reads', async () => {
    const api = await startApi('SQLite');
    const { entityMetadatas } = api.app.get(DataSource);
    const described = new Set(entityMetadatas.map(({ tableName }) => tableName));
    const tables: { name: string; sql: string }[] = await api.app
      .get(DataSource)
      .query("SELECT name, sql FROM sqlite_master WHERE type = 'table'");
    await api.stop();

    const faults = tables.filter(({ name }) => described.has(name)).map(({ sql }) => unquotedNames(sql));
    expect(faults).toHaveLength(described.size);
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });
});

/** Without a word about transactions. */
const laterAsDocumented = (sql: string): Migration =>
  class Later9900000000000 implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query(sql);
    }

    async down(): Promise<void> {}
  };

/** A module with an entity of one more column. */
function moduleWith(settings: EntitySchemaColumnOptions) {
  const name = `Profile-${JSON.stringify(settings.type)}-${settings.array}`;
  const id = { type: 'int', primary: true } as const;
  @Module({ imports: [TypeOrmModule.forFeature([new EntitySchema({ name, columns: { id, settings } })])] })
  class ProfilesModule {}
  return ProfilesModule;
}

ifEmbedded(describe)('what only one database understands', () => {
  let testStore: TestStore;
  afterEach(async () => {
    if (migrations.at(-1)?.name.startsWith('Later')) migrations.pop();
    await testStore.remove();
  });

  it.each<[StoreName, string]>([
    ['SQLite', "CREATE TYPE mood AS ENUM ('good', 'bad')"],
    ['SQLite', 'CREATE INDEX mails_x ON mails USING gin (kind)'],
    ['PostgreSQL', 'CREATE TABLE x (id integer PRIMARY KEY AUTOINCREMENT)'],
  ])('stops the migration on %s, and nothing is migrated: %s', async (store, sql) => {
    testStore = await createStore(store, { empty: true });
    const config = loadConfig(testStore.environment);
    migrations.push(laterAsDocumented(sql));

    const error = await migrate(config).catch((thrown: unknown) => thrown);

    expect(explainStartFailure(error)).toContain(`A migration fails on ${store}: `);
    expect(explainStartFailure(error)).toContain(sql);
    expect(explainStartFailure(error)).toContain('unless package.json has "databases": ["postgres"]');
    migrations.pop();
    expect(await migrate(config)).toHaveLength(migrations.length);
  });

  it.each<[string, StoreName, EntitySchemaColumnOptions]>([
    ['enum', 'SQLite', { type: 'enum', enum: ['small', 'large'] }],
    ['array', 'SQLite', { type: 'text', array: true }],
    ['inet', 'SQLite', { type: 'inet' }],
    ['datetime', 'PostgreSQL', { type: 'datetime' }],
  ])(
    'stops the start with a column (%s on %s), before anything is migrated',
    async (type, store, options) => {
      testStore = await createStore(store, { empty: true });
      const config = loadConfig({ LOG_LEVEL: 'silent', ...testStore.environment });

      const started = createApp(config, { modules: [moduleWith(options)] });
      const error = await started.catch((thrown: unknown) => thrown);

      expect(explainStartFailure(error)).toMatch(
        new RegExp(`^Data type "${type}" in "Profile.*settings" is not supported`),
      );
      expect(explainStartFailure(error)).toContain('unless package.json has "databases": ["postgres"]');
      expect(await migrate(config)).toHaveLength(migrations.length);
    },
  );
});

/** Two mails of one kind violate a unique index on the kind. */
const insert = (id: number) => `
  INSERT INTO mails (id, kind, owner, data, attempts, next_attempt_at, created_at)
  VALUES ('${id}', 'same', '', '', 0, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`;

class Index9900000000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(runner, 'mails_later', 'mails (kind)', { unique: true });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX mails_later');
  }
}

/** Makes each transaction keep the snapshot of its first statement until its end. */
async function keepSnapshots(config: Pick<Config, 'store'>): Promise<void> {
  const source = await commandDataSource(config).initialize();
  await source.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'repeatable read'); END $$`,
  );
  await source.destroy();
}

describe.each(STORES)('an index created concurrently on %s', (store) => {
  let testStore: TestStore;
  afterEach(async () => {
    if (migrations.at(-1) === Index9900000000000) migrations.pop();
    await testStore.remove();
  });

  it('exists after a failed attempt, and is created once by processes that start together', async () => {
    testStore = await createStore(store, { empty: true });
    const config = loadConfig(testStore.environment);
    if (config.store.kind === 'postgres') await keepSnapshots(config);
    const before = await migrate(config);
    const source = await commandDataSource(config).initialize();
    for (const id of [1, 2]) await source.query(insert(id));

    migrations.push(Index9900000000000);
    await expect(migrate(config)).rejects.toThrow(/unique/i);
    await source.query("DELETE FROM mails WHERE id = '1'");
    const together = Array.from({ length: store === 'SQLite' ? 1 : 4 }, () => migrate(config));
    const ran = (await Promise.all(together)).flat();

    expect(before).toHaveLength(migrations.length - 1);
    expect(ran).toEqual(['Index9900000000000']);
    await expect(source.query(insert(3))).rejects.toThrow(/unique/i);
    await source.destroy();
  });

  it('is created in an empty database together with its table, and can be reverted', async () => {
    testStore = await createStore(store, { empty: true });
    const config = loadConfig(testStore.environment);
    migrations.push(Index9900000000000);

    expect(await migrate(config)).toHaveLength(migrations.length);
    const source = await commandDataSource(config).initialize();
    await source.undoLastMigration({ transaction: 'all' });
    await source.destroy();
    expect(await migrate(config)).toEqual(['Index9900000000000']);
  });
});
