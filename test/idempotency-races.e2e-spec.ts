import { type AddressInfo, connect, type Server } from 'node:net';
import { Global, Module } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { PASSWORD_COST } from '../src/accounts/password/passwords.js';
import { PASSWORD } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { Held, RepeatModule } from './support/repeat.module.js';
import { type StoreName, STORES } from './support/stores.js';
import { until } from './support/until.js';

/** A hash takes a second or more, so that other requests run during it. */
@Global()
@Module({
  providers: [{ provide: PASSWORD_COST, useValue: { memoryCost: 64 * 1024, timeCost: 24, parallelism: 1 } }],
  exports: [PASSWORD_COST],
})
class SlowPasswordsModule {}

const withKey = (key: string) => ({ 'idempotency-key': key });

/** Expects one reply from the handler; the others are replays of it, or report that it is in progress. */
function expectOnce(replies: readonly Reply[]): Reply {
  const made = replies.filter(({ status, headers }) => status === 201 && !headers['idempotent-replayed']);
  expect(made).toHaveLength(1);
  const responses = replies.filter(({ status }) => status === 201).map(({ text }) => text);
  expect(new Set(responses).size).toBe(1);
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    expect(reply).toBeError('IDEMPOTENCY_KEY_IN_USE');
  }
  return made[0]!;
}

describe.each(STORES)('races for an Idempotency-Key on %s', (store) => {
  it('five times, 100 concurrent requests with one key create one stub', async () => {
    const api = await startApi(store, {}, [FixtureModule]);

    for (let round = 1; round <= 5; round++) {
      const create = () => api.post('/v1/stubs', { round }, withKey(`round ${round}`.replace(' ', '-')));
      const made = expectOnce(await times(100, create));

      expect(made.body.data).toMatchObject({ id: round, text: { round } });
      const again = await create();
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([made.text, 'true']);
    }
    expect((await api.get('/v1/stubs')).body.meta.total).toBe(5);
    await api.stop();
  });

  it('100 concurrent requests with different keys create 100 stubs', async () => {
    const api = await startApi(store, {}, [FixtureModule]);

    const replies = await times(100, (n) =>
      patiently(() => api.post('/v1/stubs', { n }, withKey(`key${n}`))),
    );

    expect(replies.map(({ body }) => body.data.id).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
    await api.stop();
  });

  it('20 concurrent registrations with one key create one account', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    const register = () =>
      api.post('/auth/register/', { email: 'a@example.com', name: 'A', password: PASSWORD }, withKey('k'));

    const made = expectOnce(await times(20, register));

    expect((await register()).text).toBe(made.text);
    await api.accounts.login('a@example.com');
    await api.stop();
  });

  it('a registration with a key does not block other writes while it hashes', async () => {
    const settings = { DATABASE_POOL_SIZE: '1', METRICS_PORT: '0' };
    const api = await startApi(store, settings, [SlowPasswordsModule, FixtureModule]);
    const hashing = async () => /^password_hashing_running 1$/m.test(await api.app.get(Registry).metrics());

    const account = { email: 'a@example.com', name: 'A', password: PASSWORD };
    const registration = api.post('/auth/register/', account, withKey('k'));
    await until('the password is being hashed', hashing);
    expect(await api.post('/v1/dummies', { text: 'T' })).toHaveStatus(201);

    expect(await hashing()).toBe(true);
    expect(await registration).toHaveStatus(201);
    await api.stop();
  });
});

describe.each<[string, StoreName, number]>([
  ...STORES.map((store): [string, StoreName, number] => [`the same process on ${store}`, store, 1]),
  ['another replica on PostgreSQL', 'PostgreSQL', 2],
])('while a request is in progress, %s', (_, store, replicas) => {
  it('returns IDEMPOTENCY_KEY_IN_USE at once for any body, and replays the response afterwards', async () => {
    Held.current = new Held();
    const api = await startApi(store, {}, [RepeatModule]);
    const other = replicas === 1 ? api : await api.replica();
    const first = api.post('/v1/repeats/held', {}, withKey('k'));
    await Held.current.written.promise;

    expect(await other.post('/v1/repeats/held', {}, withKey('k'))).toBeError('IDEMPOTENCY_KEY_IN_USE');
    expect(await other.post('/v1/repeats/held', { other: 1 }, withKey('k'))).toBeError(
      'IDEMPOTENCY_KEY_IN_USE',
    );
    Held.current.released.resolve();

    expect(await first).toHaveStatus(201);
    expect((await other.post('/v1/repeats/held', {}, withKey('k'))).text).toBe((await first).text);
    if (other !== api) await other.stop();
    await api.stop();
  });
});

onEach('a client that disconnects while its request is handled', { modules: [RepeatModule] }, ({ api }) => {
  it('gets the response with a retry', async () => {
    Held.current = new Held();
    await api.listen();
    const server = api.app.getHttpServer();
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(
      'POST /v1/repeats/held HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\n' +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    );
    await Held.current.written.promise;
    client.resetAndDestroy();
    await until('the connection is closed', () => openConnections(server).then((open) => open === 0));
    Held.current.released.resolve();

    const retry = () => api.post('/v1/repeats/held', {}, withKey('k'));
    await until('the request has ended', async () => (await retry()).status !== 409);
    const reply = await retry();
    expect(reply).toHaveStatus(201);
    expect(reply.headers['idempotent-replayed']).toBe('true');
    expect((await api.get('/v1/stubs')).body.data.map(({ id }: any) => id)).toEqual([reply.body.id]);
  });
});

const openConnections = (server: Server) =>
  new Promise<number>((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

describe('two replicas on PostgreSQL', () => {
  it('create one stub from 100 concurrent requests with one key, five times, and skip no id', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    const replica = await api.replica();

    for (let round = 1; round <= 5; round++) {
      const replies = await times(100, (n) =>
        (n % 2 === 0 ? api : replica).post('/v1/stubs', { round }, withKey(`round${round}`)),
      );
      expect(expectOnce(replies).body.data.id).toBe(round);
    }
    const rows = await api.rows.all('SELECT id FROM idempotency_records');
    expect(rows).toHaveLength(5);
    await replica.stop();
    await api.stop();
  });

  it('replay the responses of each other, and reject another body', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    const replica = await api.replica();

    const first = await api.post('/v1/stubs', { a: 1 }, withKey('k'));
    const again = await replica.post('/v1/stubs', { a: 1 }, withKey('k'));

    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(await replica.post('/v1/stubs', { a: 2 }, withKey('k'))).toBeError('IDEMPOTENCY_KEY_REUSED');
    await replica.stop();
    await api.stop();
  });
});
