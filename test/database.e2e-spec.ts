import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { Client } from 'pg';
import { DataSource, type Repository } from 'typeorm';
import { createApp } from '../src/app.js';
import { Public } from '../src/platform/access/index.js';
import type { SqliteStore } from '../src/platform/config/config.js';
import { explainStartFailure } from '../src/platform/operations/start-failure.js';
import { commandDataSource } from '../src/platform/database/data-source.js';
import { Database } from '../src/platform/database/database.js';
import { migrate } from '../src/platform/database/migrate.js';
import { migrations } from '../src/platform/database/migrations/index.js';
import { Queries } from '../src/platform/database/queries.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { PASSWORD, startApi, startApiOn, type TestApi } from './support/api.js';
import { Sample, SampleStatus } from './support/fixture/sample.entity.js';
import { FixtureModule } from './support/fixture.module.js';
import { createStore, DIRECT, ifEmbedded, STORES } from './support/stores.js';
import { until } from './support/until.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { environmentOfProcess } from './support/environment.js';
import { onlyFake } from './support/fake-timers.js';

const MISTAKES: Readonly<Record<string, string>> = {
  'a misspelt table': 'SELECT id FROM accountss',
  'a misspelt column': 'SELECT idd FROM accounts',
  'a missing value': 'SELECT id FROM accounts WHERE id = $1 OR id = $2',
};

const FIELDS = { text: 'Some text', status: SampleStatus.open, counter: 0 };

@Controller('mistakes')
@Public()
class MistakesController {
  constructor(
    private readonly source: DataSource,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
  ) {}

  @Get(':mistake/:way')
  read(@Param('mistake') mistake: string, @Param('way') way: string): Promise<unknown> {
    const sql = MISTAKES[mistake]!;
    const ways: Record<string, () => Promise<unknown>> = {
      query: () => this.source.query(sql, sql.includes('$2') ? ['1'] : []),
      read: () => this.queries.all(sql),
      search: () => this.queries.search(sql),
      write: () => this.transactions.execute(sql),
      run: () => this.transactions.run((manager) => manager.query(sql)),
    };
    return ways[way]!();
  }
}

@Module({ controllers: [MistakesController] })
class MistakesModule {}

describe.each(STORES)('the database on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [FixtureModule]);
  });
  afterAll(() => api.stop());

  it('has the schema that the entities describe', async () => {
    const { upQueries } = await api.app.get(Database).source.driver.createSchemaBuilder().log();

    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('reads entities with numbers and dates', async () => {
    const { id, created_at } = await api.samples.create();
    const account = await api.accounts.register('ada@example.com');
    const samples: Repository<Sample> = api.app.get(getRepositoryToken(Sample));
    await samples.update({ id }, { accountId: account.id });

    const sample = await samples.findOneOrFail({ where: { id }, relations: { account: true } });

    expect(sample).toMatchObject({ id, accountId: account.id, createdAt: new Date(created_at) });
    expect(sample.account).toMatchObject({ id: account.id, name: 'Ada' });
  });

  it('stores entities with times to the millisecond', async () => {
    const createdAt = new Date('2026-01-02T03:04:05.678Z');
    const { transactions, queries } = api.app.get(Database);

    const { id } = await transactions.run((manager) =>
      manager.save(Sample, { ...FIELDS, createdAt, updatedAt: createdAt }),
    );

    expect(await queries.one('SELECT id, created_at FROM samples WHERE id = :id', { id })).toEqual({
      id,
      created_at: createdAt.toISOString(),
    });
  });

  it('has migrations that can be reverted and run again', async () => {
    const { environment, ...testStore } = await createStore(store, { empty: true });
    const config = loadConfig(environment);
    expect(await migrate(config)).toEqual(migrations.map(({ name }) => name));

    const source = await commandDataSource(config).initialize();
    for (const _ of migrations) await source.undoLastMigration({ transaction: 'all' });
    await source.destroy();

    expect(await migrate(config)).toHaveLength(migrations.length);
    expect(await migrate(config)).toEqual([]);
    await testStore.remove();
  });

  it('of a version before the first release stops the start with a sentence', async () => {
    const { environment, ...testStore } = await createStore(store);
    const source = await commandDataSource(loadConfig(environment)).initialize();
    await source.query(
      `INSERT INTO migrations (timestamp, name) VALUES (1763700000000, 'Users1763700000000')`,
    );
    await source.destroy();

    for (const MIGRATE of ['auto', 'off'])
      await expect(startApiOn({ ...environment, MIGRATE })).rejects.toThrow(
        / before the first release, .*; use a new database$/,
      );
    await testStore.remove();
  });

  it('lacks a column that an entity describes: the service is not ready, and names it', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const execute = (sql: string) => own.rows.execute(sql);
    await execute('ALTER TABLE tickets ADD COLUMN more text');
    expect(await own.get('/health/ready')).toHaveStatus(200);

    await execute('ALTER TABLE tickets RENAME COLUMN text TO gone');
    const { details } = (await own.get('/health/ready')).body.error;
    const message = expect.stringMatching(/^tickets\.text is a column that the database lacks; /);
    expect(details).toEqual([{ field: 'schema', message }]);
    await own.stop();
  });

  it('migrates once when many processes start together', async () => {
    const { environment, ...testStore } = await createStore(store, { empty: true });
    const command = () =>
      promisify(execFile)(process.execPath, ['dist/commands/migrate.js', '--yes'], {
        env: { ...environmentOfProcess(), ...environment },
      });

    const outputs = await Promise.all(Array.from({ length: 5 }, command));

    expect(outputs.filter(({ stdout }) => stdout.startsWith('Migrations run'))).toHaveLength(1);
    expect(outputs.filter(({ stdout }) => stdout.startsWith('The schema is up to date'))).toHaveLength(4);
    await testStore.remove();
  });

  it('joins nested units of work into one', async () => {
    const { transactions } = api.app.get(Database);
    const { id } = await api.samples.create();
    const before = await api.samples.count();

    const outer = transactions.run(async (manager) => {
      await transactions.execute("UPDATE samples SET text = 'Within' WHERE id = :id", { id });
      await transactions.run((inner) => inner.query(`UPDATE samples SET counter = 7 WHERE id = ${id}`));
      await manager.query(`DELETE FROM samples WHERE id = ${id}`);
      throw new Error('No');
    });

    await expect(outer).rejects.toThrow('No');
    expect(await api.samples.count()).toBe(before);
    expect(await api.samples.get(id)).toMatchObject({ text: 'Some text', counter: 0 });
  });

  it('replaces placeholders, and keeps colons in literals, identifiers and comments', async () => {
    const { queries, transactions } = api.app.get(Database);
    const sql = `SELECT ':id it''s :id' AS "a :id", CAST(:id AS int) AS id /* :id */ -- :id
      , CAST(:id AS int) + :more AS sum`;
    const expected = [{ 'a :id': ":id it's :id", id: 7, sum: 8 }];

    expect(await queries.all(sql, { id: 7, more: 1 })).toEqual(expected);
    expect(await transactions.run(() => transactions.execute(sql, { id: 7, more: 1 }))).toEqual(expected);
  });

  it('lists every migration of its folder, in the order of the timestamps', async () => {
    const files = (await readdir('src/platform/database/migrations')).filter((name) =>
      /^\d+-[^.]+\.ts$/.test(name),
    );

    expect(migrations.map(({ name }) => /\d+$/.exec(name)![0])).toEqual(
      files.toSorted().map((name) => name.split('-')[0]),
    );
  });

  it('responds with 503 while migrations are pending', async () => {
    const bare = await startApi(store, { MIGRATE: 'off' });

    const registration = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    expect(await bare.get('/.well-known/jwks.json')).toBeError('SERVICE_UNAVAILABLE');
    expect(await bare.post('/auth/register/', registration)).toBeError('SERVICE_UNAVAILABLE');
    expect(await bare.get('/health')).toHaveStatus(200);

    await migrate(bare.config);
    expect(await bare.get('/.well-known/jwks.json')).toHaveStatus(200);
    expect(await bare.post('/auth/register/', registration)).toHaveStatus(201);
    expect(await bare.get('/health/ready')).toHaveStatus(200);
    await bare.stop();
  });

  it.each(Object.keys(MISTAKES))('responds with 500 to a statement with %s', async (mistake) => {
    const mistaken = await startApi(store, {}, [MistakesModule]);
    const name = encodeURIComponent(mistake);

    for (const way of ['query', 'read', 'short', 'search', 'write', 'run']) {
      expect(await mistaken.get(`/mistakes/${name}/${way}`)).toBeError('INTERNAL_ERROR');
    }
    expect(await mistaken.get('/health/ready')).toHaveStatus(200);
    await mistaken.stop();
  });
});

ifEmbedded(describe)('the embedded database', () => {
  it('syncs each commit to disk before the response', async () => {
    const api = await startApi('SQLite');

    const pragma = (name: string) => api.rows.run((manager) => manager.query(`PRAGMA ${name}`));
    expect(await pragma('synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    await api.stop();
  });

  it('shrinks its log after a burst of writes', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const file = join((api.config.store as SqliteStore).directory, 'database.sqlite-wal');
    await api.rows.run(async (manager) => {
      await manager.query('CREATE TABLE bytes (content blob)');
      await manager.query('INSERT INTO bytes VALUES (zeroblob(40000000))');
    });
    expect(statSync(file).size).toBeGreaterThan(40_000_000);

    // The next checkpoint lets the log begin again.
    for (let n = 0; n < 5; n++) await api.samples.create();
    expect(statSync(file).size).toBeLessThanOrEqual(8 * 1024 * 1024);
    await api.stop();
  });

  it('commits concurrent writes together, each with its own result', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const { transactions, queries } = api.app.get(Database);
    await transactions.execute(
      `CREATE TABLE numbers (n integer UNIQUE,
         sample_id integer REFERENCES samples (id) DEFERRABLE INITIALLY DEFERRED)`,
    );
    await api.samples.create();
    const insert = (n: number, sampleId = 1) =>
      transactions
        .execute<{ n: number }>('INSERT INTO numbers VALUES (:n, :sampleId) RETURNING n', { n, sampleId })
        .then(
          ([row]) => row!.n,
          ({ code }: { code: string }) => code,
        );
    const stored = () => queries.all<{ n: number }>('SELECT n FROM numbers ORDER BY n');

    expect(await Promise.all([insert(1), insert(1), insert(2)])).toEqual([1, 'SQLITE_CONSTRAINT_UNIQUE', 2]);
    expect(await stored()).toEqual([{ n: 1 }, { n: 2 }]);

    // The reference is checked only by the commit, which fails for all three.
    expect(await Promise.all([insert(3), insert(4, 99), insert(5)])).toEqual([
      3,
      'SQLITE_CONSTRAINT_FOREIGNKEY',
      5,
    ]);
    expect(await stored()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 5 }]);
    await api.stop();
  });

  it('times out each write at its own deadline while a transaction is under way', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const database = api.app.get(Database);
    const writer = () => database.pools().find(({ name }) => name === 'writer')!;
    const { promise: gate, resolve: end } = Promise.withResolvers<void>();
    const transaction = database.transactions.run(async (manager) => {
      await manager.query('UPDATE samples SET version = version');
      await gate;
    });
    await until('the transaction has begun', () => writer().used === 1);
    const pending = writer().pending;
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
    try {
      const create = async (waiting: number) => {
        const reply = api.post('/v1/samples', { text: 'T' });
        await until('it waits', () => writer().pending === pending + waiting);
        return { reply };
      };
      const first = await create(1);
      jest.advanceTimersByTime(500);
      const second = await create(2);
      jest.advanceTimersByTime(2500);
      const late = [await create(3), await create(4)];

      jest.advanceTimersByTime(1000);
      expect(await first.reply).toBeError('SERVICE_UNAVAILABLE');
      expect(writer().pending).toBe(pending + 3);
      jest.advanceTimersByTime(500);
      expect(await second.reply).toBeError('SERVICE_UNAVAILABLE');
      expect(writer().pending).toBe(pending + 2);
      end();
      for (const { reply } of late) expect(await reply).toHaveStatus(201);
    } finally {
      jest.useRealTimers();
    }
    await transaction;
    await api.stop();
  });

  it('lets writers run in the order of arrival', async () => {
    const api = await startApi('SQLite');
    const database = api.app.get(Database);
    const { transactions, queries } = database;
    await transactions.execute('CREATE TABLE turns (id integer PRIMARY KEY AUTOINCREMENT, name text)');
    const { promise: release, resolve: releaseFirst } = Promise.withResolvers<void>();
    const unit = (name: string, work = Promise.resolve()) =>
      transactions.run(async (manager) => {
        await manager.query('INSERT INTO turns (name) VALUES (?)', [name]);
        await work;
      });
    // Each write takes some milliseconds, so they are several groups.
    const write = (name: string) =>
      transactions.execute(
        `INSERT INTO turns (name) SELECT :name FROM (
           WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT max(i) FROM n)`,
        { name },
      );
    const writer = () => database.pools().find(({ name }) => name === 'writer')!;
    const numbers = Array.from({ length: 10 }, (_, n) => String(n));

    const work: Promise<unknown>[] = [unit('first', release)];
    await until('the first transaction has its turn', () => writer().used === 1);
    work.push(...numbers.map(write), unit('second'));
    await until('the others wait', () => writer().pending === 11);
    work.push(write('last'));
    releaseFirst();
    await Promise.all(work);
    const order = await queries.all<{ name: string }>('SELECT name FROM turns ORDER BY id');
    expect(order.map(({ name }) => name)).toEqual(['first', ...numbers, 'second', 'last']);
    await api.stop();
  });

  it('continues to serve reads while another process writes, and times out pending writes', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    await api.samples.create();
    const other = await commandDataSource(api.config).initialize();
    const writer = other.createQueryRunner();
    await writer.startTransaction();

    let elapsed = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + elapsed);
    const create = () => api.post('/v1/samples', { text: 'T' });
    const ended: string[] = [];
    const waiting = () => api.app.get(Database).pools()[0]!.pending;
    const writes = Promise.all([1, 2, 3].map(create)).finally(() => ended.push('the first writes'));
    await until('one write is retried, and the others wait', () => waiting() === 2);
    elapsed += 2500;
    const later = create().finally(() => ended.push('the last write'));
    await until('it waits', () => waiting() === 3);
    expect(await api.get('/v1/samples/1')).toHaveStatus(200);
    expect(ended).toEqual([]);
    elapsed += 2000;
    for (const reply of await writes) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(ended).toEqual(['the first writes']);

    await writer.rollbackTransaction();
    expect(await later).toHaveStatus(201);
    expect(await create()).toHaveStatus(201);
    await other.destroy();
    await api.stop();
  });
});

it('PostgreSQL prepares a statement once, or never, as configured', async () => {
  for (const [setting, expected] of [
    ['on', 1],
    ['off', 0],
  ] as const) {
    const api = await startApi('PostgreSQL', {
      DATABASE_PREPARED_STATEMENTS: setting,
      DATABASE_POOL_SIZE: '1',
    });
    const queries = api.app.get(Queries);
    for (let n = 0; n < 5; n++) await queries.one('SELECT id FROM accounts WHERE id = :n', { n });

    const prepared = await api.app.get(Database).source.query('SELECT statement FROM pg_prepared_statements');
    const reads = prepared.filter(({ statement }: { statement: string }) =>
      statement.endsWith('WHERE id = $1'),
    );
    expect(reads).toHaveLength(expected);
    await api.stop();
  }
});

it.each([
  ['none', 1],
  ['transaction', 0],
])('with DATABASE_POOLER=%s, %d connection of PostgreSQL listens to signals', async (pooler, expected) => {
  const { environment, ...testStore } = await createStore('PostgreSQL', DIRECT);
  const api = await startApiOn({ ...environment, DATABASE_POOLER: pooler }, [], () => testStore.remove());
  const { source } = api.app.get(Database);
  const listening = async () => {
    const [row] = await source.query(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
    );
    return row.count;
  };
  // The connection is opened in the background.
  if (expected === 0) await sleep(500);
  else await until('it is open', async () => (await listening()) > 0);

  expect(await listening()).toBe(expected);
  await api.stop();
});

describe('PostgreSQL with other settings', () => {
  it('does not limit statements of commands, such as migrations', async () => {
    const { environment, ...testStore } = await createStore('PostgreSQL', DIRECT);
    const config = loadConfig(environment);
    const first = await commandDataSource(config, []).initialize();
    await first.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 50', current_database()); END $$`,
    );
    await first.destroy();

    const source = await commandDataSource(config, []).initialize();
    expect(await source.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '0' }]);
    await source.destroy();
    await testStore.remove();
  });

  it('stores and reads dates under another DateStyle', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    const [{ name }] = await api.app.get(Database).source.query('SELECT current_database() AS name');
    await api.app.get(Database).source.query(`ALTER DATABASE ${name} SET datestyle = 'German'`);
    const again = await api.restart();

    const { created_at, id } = await again.samples.create();
    expect(await again.samples.get(id)).toMatchObject({ created_at });
    expect(Date.now() - Date.parse(created_at)).toBeLessThan(60_000);
    await again.stop();
  });

  it.each([
    ['options=-c%20no_such_option%3D1', 'unrecognized configuration parameter "no_such_option"'],
    ['sslmode=verify-full', 'The server does not support SSL connections'],
    ['sslrootcert=/none.pem', "no such file or directory, open '/none.pem'"],
  ])(
    'that the address asks for and the server does not have stop the start: %s',
    async (parameter, cause) => {
      const { environment, ...testStore } = await createStore('PostgreSQL', DIRECT);
      const url = new URL(environment['DATABASE_URL']!);
      url.search = [url.search.slice(1), parameter].filter(Boolean).join('&');

      const started = createApp(loadConfig({ LOG_LEVEL: 'silent', ...environment, DATABASE_URL: url.href }));
      const error = await started.catch((thrown: unknown) => thrown);
      expect(explainStartFailure(error)).toMatch(/^DATABASE_URL cannot be used: [^\n]+$/);
      expect(explainStartFailure(error)).toContain(cause);
      await testStore.remove();
    },
  );

  it('is reached over a socket, with an address as libpq writes it', async () => {
    const { environment, ...testStore } = await createStore('PostgreSQL');
    const { username, password, pathname, hostname, port } = new URL(environment['DATABASE_URL']!);
    const folder = environment['DATA_DIR']!;
    const socket = createServer((client) => {
      const server = connect(Number(port), hostname);
      client.pipe(server).pipe(client);
      for (const each of [client, server]) each.on('error', () => undefined);
    }).listen(join(folder, '.s.PGSQL.5432'));
    const url = `postgres://${username}:${password}@${pathname}?host=${folder}`;
    const api = await startApiOn({ ...environment, DATABASE_URL: url }, [FixtureModule], () =>
      testStore.remove(),
    );

    expect((await api.samples.create()).id).toBe(1);
    expect(await api.get('/health/ready')).toHaveStatus(200);
    await api.stop();
    socket.close();
  });

  it('is rejected with a sentence if the role may not create tables', async () => {
    const { environment, ...testStore } = await createStore('PostgreSQL', { ...DIRECT, empty: true });
    const url = new URL(environment['DATABASE_URL']!);
    const server = new Client(url.href);
    await server.connect();
    const role = `r${url.pathname.slice(1)}`;
    await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    Object.assign(url, { username: role, password: 'secret' });

    const started = createApp(loadConfig({ LOG_LEVEL: 'silent', ...environment, DATABASE_URL: url.href }));
    const error = await started.catch((thrown: unknown) => thrown);
    expect(explainStartFailure(error)).toMatch(
      /^DATABASE_URL cannot be used: permission denied for schema public; [^\n]+ CREATE on the schema [^\n]+$/,
    );
    await server.query(`DROP ROLE ${role}`);
    await server.end();
    await testStore.remove();
  });

  it('is rejected with an encoding other than UTF8', async () => {
    const { environment, ...testStore } = await createStore('PostgreSQL', {
      empty: true,
      options: `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    });

    await expect(createApp(loadConfig({ LOG_LEVEL: 'silent', ...environment }))).rejects.toThrow(
      'The database must be encoded in UTF8, and this one is in LATIN1',
    );
    await testStore.remove();
  });
});
