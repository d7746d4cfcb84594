import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { createApp } from '../src/app.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { explainStartFailure } from '../src/platform/operations/start-failure.js';
import { commandDataSource } from '../src/platform/database/data-source.js';
import { Database } from '../src/platform/database/database.js';
import { Queries } from '../src/platform/database/queries.js';
import { startApi, startApiOn } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { createStore, DIRECT } from './support/stores.js';

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

it('writes nothing behind a begin that fails', async () => {
  const api = await startApi('PostgreSQL', {}, [FixtureModule]);
  const order = () => api.post('/v1/stubs', { item: 'Tea' }, { 'idempotency-key': 'a' });
  const count = async (table: string) => (await api.rows.all(`SELECT * FROM ${table}`)).length;
  const { query } = Client.prototype as unknown as { query: (...sent: any[]) => unknown };
  const spy = jest.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: unknown,
    ...sent: any[]
  ) {
    const [first, ...others] = sent;
    const isBegin = typeof first === 'string' && first.startsWith('START TRANSACTION');
    return query.apply(this, isBegin ? ['START NOTHING', ...others] : sent) as never;
  });
  expect(await order()).toBeError('INTERNAL_ERROR');
  expect(await api.post('/v1/dummies', { text: 'A' })).toBeError('INTERNAL_ERROR');
  spy.mockRestore();

  for (const table of ['stubs', 'dummies', 'events', 'idempotency_records'])
    expect([table, await count(table)]).toEqual([table, 0]);
  expect(await order()).toHaveStatus(201);
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
    await api.restart();

    const { created_at, id } = await api.dummies.create();
    expect(await api.dummies.get(id)).toMatchObject({ created_at });
    expect(Date.now() - Date.parse(created_at)).toBeLessThan(60_000);
    await api.stop();
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

    expect((await api.dummies.create()).id).toBe(1);
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
