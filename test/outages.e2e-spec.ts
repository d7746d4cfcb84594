import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PostgresStore } from '../src/config/config.js';
import { startApi, type TestApi } from './support/api.js';
import { until } from './support/until.js';

describe('an outage of PostgreSQL', () => {
  let api: TestApi;
  /** A connection to the default database of the server. */
  let server: Client;
  let database: string;
  beforeEach(async () => {
    api = await startApi('PostgreSQL');
    const url = new URL((api.config.store as PostgresStore).url);
    database = url.pathname.slice(1);
    server = new Client(Object.assign(url, { pathname: '/postgres' }).href);
    await server.connect();
  });
  afterEach(async () => {
    await api.stop();
    await server.end();
  });

  /** Ends the connections of the service, so that it opens new ones. */
  const endConnections = () =>
    server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);

  it('that leaves connections to a read-only server ends when new ones accept writes', async () => {
    await server.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    await endConnections();
    // In a transaction, because of the key.
    const create = (n: number) =>
      api.post('/v1/posts', { title: 'T', content: 'C' }, { 'idempotency-key': `key-${n}` });
    await until('writes are rejected', async () => (await create(0)).status === 503);
    const createMany = (first: number) =>
      Promise.all(Array.from({ length: 30 }, (_, n) => create(first + n)));
    for (const reply of await createMany(0)) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(await api.get('/v1/posts')).toHaveStatus(200);

    // Of new connections only: those of the service stay read-only.
    await server.query(`ALTER DATABASE ${database} RESET default_transaction_read_only`);
    await until('writes are accepted', async () => (await create(0)).status === 201);
    for (const reply of await createMany(100)) expect(reply).toHaveStatus(201);
  });
});
