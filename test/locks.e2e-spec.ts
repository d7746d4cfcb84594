import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PostgresStore } from '../src/platform/config/config.js';
import { startApi, type TestApi } from './support/api.js';
import { times } from './support/concurrent.js';
import { FixtureModule } from './support/fixture.module.js';
import { recordedEvents } from './support/recorded-changes.js';
import { until } from './support/until.js';

describe('locks on PostgreSQL', () => {
  let api: TestApi;
  let headers: Record<string, string>;
  /** Holds a lock. */
  let other: Client;
  /** In a transaction, `pg_stat_activity` would not change. */
  let observer: Client;
  beforeEach(async () => {
    api = await startApi('PostgreSQL', { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    headers = await api.accounts.logInNew('ada@example.com');
    const { url } = api.config.store as PostgresStore;
    [other, observer] = [new Client(url), new Client(url)];
    await Promise.all([other.connect(), observer.connect()]);
  });
  afterEach(async () => {
    await Promise.all([other.end(), observer.end()]);
    await api.stop();
  });

  const create = (more: Record<string, string> = {}) =>
    api.post('/v1/dummies', { text: 'T' }, { ...headers, ...more });

  /** The connections that wait for a lock. */
  const waiting = async (): Promise<number[]> => {
    const { rows } = await observer.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.map(({ pid }) => pid);
  };

  /** The connections that have waited for a lock longer than a read takes. */
  const waitingLong = async (): Promise<number> => {
    const { rows } = await observer.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()
       AND wait_event_type = 'Lock' AND query_start < now() - interval '200 milliseconds'`,
    );
    return rows[0]!.count;
  };

  it('delay creations, which leave no gap, and no reads', async () => {
    const { id } = (await create()).body.data;
    const ids: number[] = [id];
    for (let round = 0; round < 5; round++) {
      await other.query('BEGIN');
      // A creation refers to this account.
      await other.query('SELECT FROM accounts FOR UPDATE');
      const creations = times(4, (n) => create(n % 2 ? { 'idempotency-key': `${round}-${n}` } : {}));
      await until('the creations wait', async () => (await waiting()).length > 0);
      const before = await waiting();

      for (const reply of await times(60, () => api.get(`/v1/dummies/${id}`)))
        expect(reply).toHaveStatus(200);
      await until('they wait longer than a read takes', async () => (await waitingLong()) >= before.length);
      expect(await waiting()).toEqual(expect.arrayContaining(before));

      await other.query('COMMIT');
      for (const reply of await creations) {
        expect(reply).toHaveStatus(201);
        ids.push(reply.body.data.id);
      }
    }
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
    expect(await recordedEvents(api, 'dummy.created')).toHaveLength(21);
  });

  it('of a table delay reads that are not prepared yet, which then succeed', async () => {
    // By another route, so that the read is not prepared yet.
    await create();
    await other.query('BEGIN; LOCK TABLE dummies IN ACCESS EXCLUSIVE MODE');
    const reads = times(20, () => api.get('/v1/dummies/1'));
    await until('the reads wait', async () => (await waitingLong()) > 2);
    await other.query('COMMIT');

    for (const reply of await reads) expect(reply).toHaveStatus(200);
  });

  it('of a connection that is ended lose no acknowledged write', async () => {
    await create();
    await other.query('BEGIN; LOCK TABLE dummies IN ACCESS EXCLUSIVE MODE');
    const creations = times(40, () => create());
    await until('the creations wait', async () => (await waiting()).length > 4);
    await observer.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    await other.query('COMMIT');

    const replies = await creations;
    const created = replies.filter(({ status }) => status === 201);
    const failed = replies.filter(({ status }) => status !== 201);
    expect(failed.length).toBeGreaterThan(0);
    for (const reply of failed) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(await api.dummies.count()).toBe(1 + created.length);
    expect(await create()).toHaveStatus(201);
  });
});
