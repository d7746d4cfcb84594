import { Client, type DatabaseError } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { toAppError } from '../src/common/errors/to-app-error.js';
import type { PostgresStore } from '../src/config/config.js';
import { Queries } from '../src/database/queries.js';
import { startApi, type TestApi } from './support/api.js';
import { until } from './support/until.js';

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

describe('short reads on shared connections of PostgreSQL', () => {
  let api: TestApi;
  /** Holds a lock. */
  let other: Client;
  /** In a transaction, `pg_stat_activity` would not change. */
  let observer: Client;
  beforeEach(async () => {
    api = await startApi('PostgreSQL');
    const { url } = api.config.store as PostgresStore;
    [other, observer] = [new Client(url), new Client(url)];
    await Promise.all([other.connect(), observer.connect()]);
  });
  afterEach(async () => {
    await Promise.all([other.end(), observer.end()]);
    await api.stop();
  });

  /** The connections that wait for a lock. */
  const waiting = async (): Promise<number[]> => {
    const { rows } = await observer.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.map(({ pid }) => pid);
  };

  /** What waits for a lock longer than a read may on a shared connection, such as reads that run again elsewhere. */
  const waitingLong = async (): Promise<number> => {
    const { rows } = await observer.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()
       AND wait_event_type = 'Lock' AND query_start < now() - interval '200 milliseconds'`,
    );
    return rows[0]!.count;
  };

  it('are not delayed by creations that wait for a lock, which are not canceled and leave no gap', async () => {
    const { id } = await api.posts.create();
    const ids: number[] = [id];
    for (let round = 0; round < 5; round++) {
      await other.query('BEGIN');
      // A creation refers to this author.
      await other.query('SELECT FROM users WHERE id = 1 FOR UPDATE');
      const creations = times(4, (n) =>
        api.post(
          '/v1/posts',
          { title: 'T', content: 'C' },
          n % 2 ? { 'idempotency-key': `${round}-${n}` } : {},
        ),
      );
      await until('the creations wait', async () => (await waiting()).length > 0);
      const before = await waiting();

      for (const reply of await times(60, () => api.get(`/v1/posts/${id}`))) expect(reply).toHaveStatus(200);
      await until('they wait longer than a read may', async () => (await waitingLong()) >= before.length);
      expect(await waiting()).toEqual(expect.arrayContaining(before));

      await other.query('COMMIT');
      for (const reply of await creations) {
        expect(reply).toHaveStatus(201);
        ids.push(reply.body.data.id);
      }
    }
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
    expect((await api.get('/v1/events?types=post.created&limit=100')).body.data).toHaveLength(21);
  });

  it('succeed after the lock of a table under which they could not be prepared', async () => {
    // By another route, so that the read is not prepared yet.
    await api.posts.create();
    await other.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE');
    const reads = times(20, () => api.get('/v1/posts/1'));
    await until('the reads wait', async () => (await waitingLong()) > 2);
    await other.query('COMMIT');

    for (const reply of await reads) expect(reply).toHaveStatus(200);
  });

  it('have their own results and errors', async () => {
    const queries = api.app.get(Queries);
    const results = await times(60, (n) =>
      queries
        .one<{ quotient: number }>('SELECT 1000 / CAST(:n AS integer) AS quotient', { n: n % 7 && n })
        .then(
          (row) => row!.quotient,
          (error: DatabaseError) => error.message,
        ),
    );

    const quotient = (_: unknown, n: number) => (n % 7 ? Math.floor(1000 / n) : 'division by zero');
    expect(results).toEqual(Array.from({ length: 60 }, quotient));
  });

  it('that take long run again on their own connection', async () => {
    const queries = api.app.get(Queries);
    const results = await times(6, (n) =>
      queries.one(n === 0 ? 'SELECT 0 AS n FROM pg_sleep(0.5)' : 'SELECT CAST(:n AS integer) AS n', { n }),
    );

    expect(results).toEqual([0, 1, 2, 3, 4, 5].map((n) => ({ n })));
  });

  it('leave connections to everything else while they wait for a lock', async () => {
    await api.posts.create();
    await other.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE');
    const reads = times(60, () => api.get('/v1/posts/1'));
    await until('the reads wait', async () => (await waitingLong()) > 2);

    expect(await api.post('/v1/users', { name: 'Ada' })).toHaveStatus(201);
    await other.query('COMMIT');
    for (const reply of await reads) expect(reply).toHaveStatus(200);
  });

  it('that take long run again two at a time, and fail otherwise', async () => {
    const queries = api.app.get(Queries);
    const outcomes = await times(4, () =>
      queries.one<{ n: number }>('SELECT 1 AS n FROM pg_sleep(1.5)').then(
        (row) => row!.n,
        (error: unknown) => toAppError(error).code,
      ),
    );

    expect(outcomes.filter((outcome) => outcome === 1)).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === 'SERVICE_UNAVAILABLE')).toHaveLength(2);
  });

  it('and writes are lost with their connection, but no acknowledged write is lost', async () => {
    await api.posts.create();
    await other.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE');
    const creations = times(40, (n) => api.post('/v1/posts', { title: `Post ${n}`, content: 'C' }));
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
    expect(await api.posts.count()).toBe(1 + created.length);
    expect(await api.post('/v1/posts', { title: 'T', content: 'C' })).toHaveStatus(201);
  });
});
