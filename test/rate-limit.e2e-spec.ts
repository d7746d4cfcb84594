import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisConnection } from '../src/platform/http/redis-connection.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';
import { reference } from './support/reference.js';
import { hasRedis, RedisServer } from './support/redis.js';
import { until } from './support/until.js';

const from = (address: string) => ({ 'x-forwarded-for': address });
const ask = (api: TestApi, address: string, url = '/v1/samples') => api.get(url, from(address));

describe('RATE_LIMIT', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, { RATE_LIMIT: '3/2', TRUST_PROXY: '127.0.0.1' }, [FixtureModule]);
  });
  afterAll(() => api.stop());

  it('rejects requests beyond the limit until the window has passed, and reports the remaining ones', async () => {
    const address = '203.0.113.1';
    for (const left of [2, 1, 0]) {
      const reply = await ask(api, address);
      expect(reply).toHaveStatus(200);
      expect(reply.headers['ratelimit-policy']).toBe('"default";q=3;w=2');
      expect(reply.headers['ratelimit']).toMatch(new RegExp(`^"default";r=${left};t=[12]$`));
    }

    const rejected = await ask(api, address);
    expect(rejected).toBeError('RATE_LIMITED');
    expect(rejected.headers['retry-after']).toMatch(/^[12]$/);
    expect(rejected.headers['ratelimit']).toMatch(/^"default";r=0;t=[12]$/);
    expect(await ask(api, '203.0.113.2')).toHaveStatus(200);
    await until('a new window begins', async () => (await ask(api, address)).status === 200);
  });

  it.each([
    ['an unknown path', (address: string) => ask(api, address, '/nowhere')],
    ['a wrong method', (address: string) => api.put('/v1/samples', {}, from(address))],
    ['an unreadable body', (address: string) => api.post('/v1/samples', '{', from(address))],
    [
      'an odd Transfer-Encoding',
      (address: string) => api.post('/v1/samples', {}, { ...from(address), 'transfer-encoding': 'gzip' }),
    ],
    ['GraphQL', (address: string) => api.post('/graphql', { query: '{ __typename }' }, from(address))],
    ['the OpenAPI document', (address: string) => ask(api, address, '/openapi.json')],
  ])('counts %s', async (name, request) => {
    const address = `198.51.100.${name.length}`;
    for (let n = 0; n < 3; n++) expect(await request(address)).not.toHaveStatus(429);

    expect(await request(address)).toBeError('RATE_LIMITED');
  });

  it('counts an IPv6 address by its /64, and an IPv4-mapped address as IPv4', async () => {
    for (const n of [1, 2, 3]) expect(await ask(api, `2001:db8:7:7::${n}`)).toHaveStatus(200);
    expect(await ask(api, '2001:db8:7:7:ffff::1')).toBeError('RATE_LIMITED');
    expect(await ask(api, '2001:db8:7:8::1')).toHaveStatus(200);

    for (const n of [1, 2, 3])
      expect(await ask(api, n === 1 ? '192.0.2.9' : '::ffff:192.0.2.9')).toHaveStatus(200);
    expect(await ask(api, '192.0.2.9')).toBeError('RATE_LIMITED');
  });

  it('does not limit the health checks', async () => {
    for (let n = 0; n < 5; n++) {
      for (const path of ['/health', '/health/ready']) {
        const reply = await ask(api, '203.0.113.8', path);
        expect(reply).toHaveStatus(200);
        expect(reply.headers['ratelimit']).toBeUndefined();
      }
      for (const path of ['/health/nothing', '/health?x=y', '/health/'])
        expect((await ask(api, '203.0.113.8', path)).headers['ratelimit']).toBeUndefined();
    }
    expect((await ask(api, '203.0.113.8', '/healthy')).headers['ratelimit']).toMatch('r=2');
  });

  it('exempts preflights, so that a browser can read the rejection, and counts other OPTIONS', async () => {
    const headers = { ...from('203.0.113.9'), origin: 'https://app.example' };
    const options = (more: Record<string, string> = {}) =>
      api.send({ method: 'OPTIONS', url: '/v1/samples', headers: { ...headers, ...more } });
    for (let n = 0; n < 3; n++) expect(await options()).not.toHaveStatus(429);

    const preflight = await options({ 'access-control-request-method': 'POST' });
    expect(preflight).toHaveStatus(204);
    expect(preflight.headers['ratelimit']).toBeUndefined();
    expect(await options()).toBeError('RATE_LIMITED');
    const rejected = await api.get('/v1/samples', headers);
    expect(rejected).toBeError('RATE_LIMITED');
    expect(rejected.headers['access-control-allow-origin']).toBe('*');
  });

  it('returns the documented error', async () => {
    const own = await startApi(ANY_STORE, { RATE_LIMIT: '100/60' }, [FixtureModule]);
    for (let n = 0; n < 100; n++) await own.get('/v1/samples');
    const { responses } = reference.paths['/auth/me/'].get;

    const { body } = await own.get('/auth/me/');
    expect(body).toEqual(responses[429].content['application/json'].examples.RATE_LIMITED.value);
    await own.stop();
  });

  it('is off by default', async () => {
    const open = await startApi(ANY_STORE, {}, [FixtureModule]);

    expect((await open.get('/v1/samples')).headers['ratelimit']).toBeUndefined();
    await open.stop();
  });
});

(hasRedis ? describe : describe.skip)('RATE_LIMIT with Redis', () => {
  it('is shared by all replicas, and separate for each process while Redis is unavailable', async () => {
    const redis = await RedisServer.start();
    const settings = { RATE_LIMIT: '6/60', TRUST_PROXY: '127.0.0.1', REDIS_URL: redis.url };
    const replicas = [
      await startApi(ANY_STORE, settings, [FixtureModule]),
      await startApi(ANY_STORE, settings, [FixtureModule]),
    ] as const;
    let clients = 0;
    /** Number of accepted requests, of ten to each replica by a new client. */
    const accepted = async () => {
      const address = `203.0.113.${++clients}`;
      const replies = [];
      for (let n = 0; n < 20; n++) replies.push(await ask(replicas[n % 2]!, address));
      return replies.filter(({ status }) => status === 200).length;
    };

    await until('the replicas share one limit', async () => (await accepted()) === 6);
    redis.freeze();
    expect(await accepted()).toBe(12);
    redis.thaw();
    await until('the replicas share one limit', async () => (await accepted()) === 6);
    await redis.stop();
    await until('each replica has a limit', async () => (await accepted()) === 12);
    await redis.start();
    await until('the replicas share one limit', async () => (await accepted()) === 6);

    for (const replica of replicas) await replica.stop();
    await redis.stop();
  });

  it('logs once that Redis is unavailable, stops using it for a while, and logs its return', async () => {
    const redis = await RedisServer.start();
    const log: string[] = [];
    const logger = { log: (text: string) => log.push(text), warn: (text: string) => log.push(text) };
    const connection = new RedisConnection(redis.url, logger);
    /** Returns the number of requests that used Redis, and the number that got its response. */
    const request = async (count: number) => {
      let asked = 0;
      const command = () => {
        asked++;
        return connection.client.ping();
      };
      const replies = await Promise.all(
        Array.from({ length: count }, () => connection.run(command, async () => 'alone')),
      );
      return [asked, replies.filter((reply) => reply === 'PONG').length];
    };
    await until('Redis responds', async () => (await request(1))[1] === 1);

    redis.freeze();
    expect(await request(3)).toEqual([3, 0]);
    expect(await request(3)).toEqual([0, 0]);
    redis.thaw();
    expect(await request(3)).toEqual([0, 0]);
    await until('a command is sent to Redis', async () => (await request(3))[0] === 1);
    expect(await request(3)).toEqual([3, 3]);
    expect(log).toEqual([
      'Redis is unavailable: this process limits requests on its own (Command timed out)',
      'Redis is available again: all replicas share the limit',
    ]);

    connection.disconnect();
    await redis.stop();
  });
});
