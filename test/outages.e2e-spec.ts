import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { toAppError } from '../src/platform/http/errors/to-app-error.js';
import { MetricsServer } from '../src/platform/operations/metrics-server.js';
import { startApiOn, type TestApi } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { createStore, DIRECT, type TestStore } from './support/stores.js';
import { until } from './support/until.js';

/** Who the service is for the server; a superuser would have all rights, and no limit of connections. */
const PASSWORD = 'secret';

interface Fault {
  /** Statements in the default database of the server. */
  readonly cause?: (names: Names) => readonly string[];
  readonly repair?: (names: Names) => readonly string[];
  /** Statements in the database of the service. */
  readonly causeInside?: (names: Names) => readonly string[];
  readonly repairInside?: (names: Names) => readonly string[];
  /** The first line of `pg_hba.conf` for the database. */
  readonly rule?: string;
}

interface Names {
  readonly database: string;
  readonly role: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'a role that may not log in': {
    cause: ({ role }) => [`ALTER ROLE ${role} NOLOGIN`],
    repair: ({ role }) => [`ALTER ROLE ${role} LOGIN`],
  },
  'another password': {
    cause: ({ role }) => [`ALTER ROLE ${role} PASSWORD 'another'`],
    repair: ({ role }) => [`ALTER ROLE ${role} PASSWORD '${PASSWORD}'`],
  },
  'a role without connections': {
    cause: ({ role }) => [`ALTER ROLE ${role} CONNECTION LIMIT 0`],
    repair: ({ role }) => [`ALTER ROLE ${role} CONNECTION LIMIT -1`],
  },
  'a database that allows no connections': {
    cause: ({ database }) => [`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`],
    repair: ({ database }) => [`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`],
  },
  'a database with another name': {
    cause: ({ database }) => [
      `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database}'`,
      `ALTER DATABASE ${database} RENAME TO ${database}_away`,
    ],
    repair: ({ database }) => [
      `ALTER DATABASE ${database}_away RENAME TO ${database}`,
      `ALTER DATABASE ${database} ALLOW_CONNECTIONS true`,
    ],
  },
  'a database to which the role may not connect': {
    cause: ({ database }) => [`REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC`],
    repair: ({ database }) => [`GRANT CONNECT ON DATABASE ${database} TO PUBLIC`],
  },
  'a rule that rejects the role': { rule: 'reject' },
  'a rule that wants TLS': { rule: 'hostssl' },
  'tables that the role may no longer use': {
    causeInside: ({ role }) => [`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`],
    repairInside: ({ role }) => [`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`],
  },
  'a schema that the role may no longer use': {
    causeInside: () => ['REVOKE USAGE ON SCHEMA public FROM PUBLIC'],
    repairInside: () => ['GRANT USAGE ON SCHEMA public TO PUBLIC'],
  },
  'tables that are gone': {
    causeInside: () => ['ALTER SCHEMA public RENAME TO away', 'CREATE SCHEMA public'],
    repairInside: () => ['DROP SCHEMA public', 'ALTER SCHEMA away RENAME TO public'],
  },
};

describe('an outage of PostgreSQL', () => {
  let store: TestStore;
  let names: Names;
  let url: URL;
  /** A connection to the default database of the server. */
  let server: Client;
  let api: TestApi;
  beforeEach(async () => {
    // PgBouncer knows no roles but its own.
    store = await createStore('PostgreSQL', DIRECT);
    url = new URL(store.environment['DATABASE_URL']!);
    names = { database: url.pathname.slice(1), role: `service_${randomBytes(8).toString('hex')}` };
    server = new Client(Object.assign(new URL(url), { pathname: '/postgres' }).href);
    await server.connect();
    // The role may not create the tables of the fixture.
    await (await startApiOn(store.environment, [FixtureModule])).stop();
    await server.query(`CREATE ROLE ${names.role} LOGIN PASSWORD '${PASSWORD}'`);
    await inside(
      `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${names.role}`,
      `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${names.role}`,
    );
  });
  afterEach(async () => {
    await api.stop();
    await inside(`DROP OWNED BY ${names.role}`, `DROP ROLE ${names.role}`);
    await server.end();
    await store.remove();
  });

  const start = async (password = PASSWORD) => {
    const address = Object.assign(new URL(url), { username: names.role, password });
    const environment = { ...store.environment, DATABASE_URL: address.href, METRICS_PORT: '0' };
    api = await startApiOn(environment, [FixtureModule]);
  };

  const metrics = async () => (await fetch(api.app.get(MetricsServer).url!)).text();

  /** Runs statements in the database of the service, by the superuser. */
  async function inside(...statements: readonly string[]): Promise<void> {
    if (statements.length === 0) return;
    const client = new Client(url.href);
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
  }

  /** Ends the connections of the service, so that it opens new ones. */
  const endConnections = () =>
    server.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1', [
      names.role,
    ]);

  /** Puts a line in front of the server's rules for connections. @returns a function that removes it */
  async function addRule(line: string): Promise<() => Promise<void>> {
    const { rows } = await server.query<{ file: string }>(`SELECT current_setting('hba_file') AS file`);
    const { file } = rows[0]!;
    writeFileSync(file, `${line}\n${readFileSync(file, 'utf8')}`);
    await server.query('SELECT pg_reload_conf()');
    return async () => {
      writeFileSync(file, readFileSync(file, 'utf8').replace(`${line}\n`, ''));
      await server.query('SELECT pg_reload_conf()');
    };
  }

  const create = (key: string) => api.post('/v1/dummies', { text: 'T' }, { 'idempotency-key': key });

  /** Requests of each kind: reads, searches, writes, a keyed write, a login, GraphQL. */
  const requests = (n: number) => [
    api.get('/v1/dummies/1'),
    api.get('/v1/dummies?q=a'),
    api.get('/v1/events'),
    api.post('/v1/dummies', { text: 'T' }),
    api.patch('/v1/dummies/1', { text: `T${n}` }),
    create(`key-${n}`),
    api.post('/auth/login/', { email: 'ada@example.com', password: 'wrong password' }),
  ];

  it.each(Object.entries(FAULTS))('by %s is 503, and readiness names it', async (_, fault) => {
    await start();
    await api.dummies.create();
    for (const sql of fault.cause?.(names) ?? []) await server.query(sql);
    await inside(...(fault.causeInside?.(names) ?? []));
    const removeRule =
      fault.rule &&
      (await addRule(
        fault.rule === 'reject'
          ? `host ${names.database} ${names.role} all reject`
          : `hostssl ${names.database} ${names.role} all scram-sha-256\nhost ${names.database} ${names.role} all reject`,
      ));
    if (!fault.causeInside) {
      // A connection that was being opened is accepted, and appears after the others have ended.
      await until('no connection is accepted', async () => {
        const ended = await endConnections();
        const isRefused = (await api.get('/v1/dummies/1')).status !== 200;
        return isRefused && ended.rowCount === 0;
      });
    }

    for (let n = 0; n < 2; n++) {
      for (const reply of await Promise.all(requests(n))) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    }
    const ready = await api.get('/health/ready');
    expect(ready).toHaveStatus(503);
    expect(ready.body.error.details.map(({ field }: { field: string }) => field)).toContain('database');
    expect(ready.text).not.toContain(names.role);
    expect(await metrics()).toContain('\nservice_ready 0\n');
    expect(await api.get('/health')).toHaveStatus(200);

    for (const sql of fault.repair?.(names) ?? []) await server.query(sql);
    await inside(...(fault.repairInside?.(names) ?? []));
    if (removeRule) await removeRule();
    await until('the service is ready', async () => (await api.get('/health/ready')).status === 200);
    await until('writes succeed', async () => (await create('last')).status === 201);
    expect(await api.get('/v1/dummies/1')).toHaveStatus(200);
  });

  it.each([
    ['the table of an entity', 'ALL ON TABLE dummies', ['GET', 'POST']],
    ['writes of a table', 'INSERT ON TABLE dummies', ['POST']],
    ['writes of a table without an entity', 'INSERT ON TABLE events', ['POST']],
  ])('by the loss of a right on %s is 503, and readiness names it', async (_, right, methods) => {
    await start();
    await api.dummies.create();
    expect(await api.get('/health/ready')).toHaveStatus(200);
    await inside(`REVOKE ${right} FROM ${names.role}`);

    for (const method of methods) {
      const reply = await (method === 'GET'
        ? api.get('/v1/dummies')
        : api.post('/v1/dummies', { text: 'T' }));
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
    }
    const ready = await api.get('/health/ready');
    expect(ready).toHaveStatus(503);
    const fields = ready.body.error.details.map(({ field }: { field: string }) => field);
    expect(new Set(fields)).toEqual(new Set(['database']));
    expect(ready.text).toContain(right.split(' ').at(-1));

    await inside(`GRANT ${right} TO ${names.role}`);
    expect(await api.get('/health/ready')).toHaveStatus(200);
    expect(await create('after')).toHaveStatus(201);
  });

  it('is none while a table is locked that requests do not need', async () => {
    await start();
    const locking = new Client(url.href);
    await locking.connect();
    await locking.query('BEGIN; LOCK TABLE migrations, mails IN ACCESS EXCLUSIVE MODE');

    expect(await create('meanwhile')).toHaveStatus(201);
    // Metrics wait for the mails.
    const scrape = { isOver: false };
    const scraped = metrics().finally(() => (scrape.isOver = true));
    do {
      expect(await api.get('/health/ready')).toHaveStatus(200);
      await sleep(50);
    } while (!scrape.isOver);
    await scraped;
    await locking.query('ROLLBACK');
    await locking.end();
  });

  it('that demands a password which the address lacks leaves no connection open', async () => {
    const trust = await addRule(`host ${names.database} ${names.role} all trust`);
    await until('the server trusts the role', () =>
      start('').then(
        () => true,
        () => false,
      ),
    );
    expect(await create('first')).toHaveStatus(201);
    await trust();
    await until('no connection is accepted', async () => {
      await endConnections();
      return (await api.get('/v1/dummies/1')).status !== 200;
    });
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const before = sockets();

    for (let n = 0; n < 10; n++) {
      for (const reply of await Promise.all(requests(n))) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    }
    await until('their sockets are closed', () => sockets() <= before + 2);
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['database']);
  });

  it('by a limit of connections makes the service unready while most requests fail', async () => {
    await start();
    await api.dummies.create();
    await server.query(`ALTER ROLE ${names.role} CONNECTION LIMIT 1`);
    // Health checks keep theirs.
    const endOthers = async () => {
      await api.get('/health/ready');
      await server.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE usename = $1 AND query NOT LIKE '%pg_attribute%'`,
        [names.role],
      );
    };
    await until('requests fail', async () => {
      await endOthers();
      const replies = await Promise.all([1, 2, 3, 4].map(() => api.get('/v1/dummies/1')));
      return replies.every(({ status }) => status === 503);
    });
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['database']);
    const { rows } = await server.query(`SELECT FROM pg_stat_activity WHERE usename = $1`, [names.role]);
    expect(rows).toHaveLength(1);

    await server.query(`ALTER ROLE ${names.role} CONNECTION LIMIT -1`);
    await until('the service is ready', async () => (await api.get('/health/ready')).status === 200);
    for (const reply of await Promise.all([1, 2, 3, 4, 5, 6].map(() => api.get('/v1/dummies/1'))))
      expect(reply).toHaveStatus(200);
  });

  it.each<[string, () => unknown]>([
    ['waits', () => sleep(500)],
    // The service reads the end of the connection as the response to its next statement.
    ['is busy', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)],
  ])('that ends a transaction while the service %s is 503', async (_, pause) => {
    await start();
    const ended = api.rows.run(async (manager) => {
      // Of this transaction only: on a busy machine, others pause for as long between two statements.
      await manager.query('SET LOCAL idle_in_transaction_session_timeout = 50');
      await pause();
      await manager.query('SELECT 2');
    });

    await expect(ended.catch((error: unknown) => toAppError(error).code)).resolves.toBe(
      'SERVICE_UNAVAILABLE',
    );
    expect(await create('after')).toHaveStatus(201);
  });

  it('is none when a column gets another type', async () => {
    await start();
    const dummies = await Promise.all(Array.from({ length: 20 }, () => api.dummies.create()));
    const statuses = async (round: number) => {
      const replies = await Promise.all([
        ...dummies.map(({ id }) => api.get(`/v1/dummies/${id}`)),
        ...dummies.map(({ id }) => api.patch(`/v1/dummies/${id}`, { text: `Title ${round}` })),
        ...dummies.map(({ id }) => create(`key-${round}-${id}`)),
      ]);
      return new Set(replies.map(({ status }) => status));
    };
    expect(await statuses(0)).toEqual(new Set([200, 201]));

    await inside(`ALTER TABLE dummies ALTER COLUMN text TYPE varchar(1000) COLLATE "C"`);
    expect(await statuses(1)).toEqual(new Set([200, 201]));
    expect(await statuses(2)).toEqual(new Set([200, 201]));
  });

  it('that leaves connections to a read-only server ends when new ones accept writes', async () => {
    await start();
    await server.query(`ALTER DATABASE ${names.database} SET default_transaction_read_only = on`);
    await endConnections();
    await until('writes are rejected', async () => (await create('key-0')).status === 503);
    for (const reply of await times(30, (n) => create(`key-${n}`)))
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(await api.get('/v1/dummies')).toHaveStatus(200);

    // Of new connections only: those of the service stay read-only.
    await server.query(`ALTER DATABASE ${names.database} RESET default_transaction_read_only`);
    await until('writes are accepted', async () => (await create('key-0')).status === 201);
    for (const reply of await times(30, (n) => patiently(() => create(`key-${100 + n}`))))
      expect(reply).toHaveStatus(201);
  });
});

onEach('a query runner that was released', {}, ({ api }) => {
  it('is a mistake, not an outage', async () => {
    const runner = api.app.get(DataSource).createQueryRunner();
    await runner.query('SELECT 1');
    await runner.release();

    const code = await runner.query('SELECT 1').catch((error: unknown) => toAppError(error).code);
    expect(code).toBe('INTERNAL_ERROR');
  });
});
