import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';
import { reference } from './support/reference.js';
import { hasRedis, RedisServer } from './support/redis.js';
import { until } from './support/until.js';

const from = (address: string) => ({ 'x-forwarded-for': address });
/** Without the HEAD, which counts, too. */
const ask = (api: TestApi, address: string, url = '/v1/dummies') => api.getOnly(url, from(address));

/** The headers of a limit of three requests in two seconds. */
const rest = (left: number) => ({
  'ratelimit-limit': '3',
  'ratelimit-remaining': String(left),
  'ratelimit-reset': expect.stringMatching(/^[12]$/),
});

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
      expect(reply.headers).toMatchObject(rest(left));
    }

    const rejected = await ask(api, address);
    expect(rejected).toBeError('RATE_LIMITED');
    expect(rejected.headers).toMatchObject({ ...rest(0), 'retry-after': expect.stringMatching(/^[12]$/) });
    expect(await ask(api, '203.0.113.2')).toHaveStatus(200);
    await until('a new window begins', async () => (await ask(api, address)).status === 200);
  });

  it.each([
    ['an unknown path', (address: string) => ask(api, address, '/nowhere')],
    ['a wrong method', (address: string) => api.put('/v1/dummies', {}, from(address))],
    ['an unreadable body', (address: string) => api.post('/v1/dummies', '{', from(address))],
    [
      'an odd Transfer-Encoding',
      (address: string) => api.post('/v1/dummies', {}, { ...from(address), 'transfer-encoding': 'gzip' }),
    ],
    ['GraphQL', (address: string) => api.post('/graphql', { query: '{ __typename }' }, from(address))],
    ['the OpenAPI document', (address: string) => ask(api, address, '/openapi.json')],
  ])('counts %s', async (name, request) => {
    const address = `198.51.100.${name.length}`;
    for (const left of [2, 1, 0]) {
      const reply = await request(address);
      expect(reply).not.toHaveStatus(429);
      expect(reply.headers).toMatchObject(rest(left));
    }

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
        expect(reply.headers).not.toHaveProperty('ratelimit-limit');
      }
      for (const path of ['/health/nothing', '/health?x=y', '/health/'])
        expect((await ask(api, '203.0.113.8', path)).headers).not.toHaveProperty('ratelimit-limit');
    }
    expect((await ask(api, '203.0.113.8', '/healthy')).headers).toMatchObject(rest(2));
  });

  it('exempts preflights, so that a browser can read the rejection, and counts other OPTIONS', async () => {
    const headers = { ...from('203.0.113.9'), origin: 'https://app.example' };
    const options = (more: Record<string, string> = {}) =>
      api.send({ method: 'OPTIONS', url: '/v1/dummies', headers: { ...headers, ...more } });
    for (let n = 0; n < 3; n++) expect(await options()).not.toHaveStatus(429);

    const preflight = await options({ 'access-control-request-method': 'POST' });
    expect(preflight).toHaveStatus(204);
    expect(preflight.headers).not.toHaveProperty('ratelimit-limit');
    expect(await options()).toBeError('RATE_LIMITED');
    const rejected = await api.get('/v1/dummies', headers);
    expect(rejected).toBeError('RATE_LIMITED');
    expect(rejected.headers['access-control-allow-origin']).toBe('*');
  });

  it('returns the documented error', async () => {
    const own = await startApi(ANY_STORE, { RATE_LIMIT: '100/60' }, [FixtureModule]);
    for (let n = 0; n < 100; n++) await own.get('/v1/dummies');
    const { responses } = reference.paths['/auth/me/'].get;

    const { body } = await own.get('/auth/me/');
    expect(body).toEqual(responses[429].content['application/json'].examples.RATE_LIMITED.value);
    await own.stop();
  });

  it('is off by default', async () => {
    const open = await startApi(ANY_STORE, {}, [FixtureModule]);

    expect((await open.get('/v1/dummies')).headers).not.toHaveProperty('ratelimit-limit');
    await open.stop();
  });
});

(hasRedis ? describe : describe.skip)('RATE_LIMIT with Redis', () => {
  const LIMIT = { RATE_LIMIT: '6/60', TRUST_PROXY: '127.0.0.1' };
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => redis.stop());

  it('is shared by all replicas, and while Redis is away, requests pass', async () => {
    const settings = { ...LIMIT, REDIS_URL: redis.url };
    const replicas = [
      await startApi(ANY_STORE, settings, [FixtureModule]),
      await startApi(ANY_STORE, settings, [FixtureModule]),
    ] as const;
    let clients = 0;
    /** The statuses of ten requests of a new client to each replica. */
    const statuses = async () => {
      const address = `203.0.113.${++clients}`;
      const replies = [];
      for (let n = 0; n < 20; n++) replies.push(await ask(replicas[n % 2]!, address));
      return replies.map(({ status }) => status);
    };
    const limited = [...Array(6).fill(200), ...Array(14).fill(429)];
    const unlimited = Array(20).fill(200);
    const untilShared = () =>
      until('the replicas share one limit', async () => isDeepStrictEqual(await statuses(), limited));

    await untilShared();
    redis.freeze();
    expect(await statuses()).toEqual(unlimited);
    redis.thaw();
    await untilShared();
    await redis.stop();
    expect(await statuses()).toEqual(unlimited);
    await redis.start();
    await untilShared();

    for (const replica of replicas) await replica.stop();
  });

  it('lets no request wait for a Redis that is away', async () => {
    await redis.stop();
    const connected = jest.spyOn(Redis.prototype, 'connect');
    const api = await startApi(ANY_STORE, { ...LIMIT, REDIS_URL: redis.url }, [FixtureModule]);
    for (let n = 0; n < 20; n++) expect(await ask(api, '203.0.113.1')).toHaveStatus(200);

    // Each request that waits would end with the next attempt to connect.
    expect(connected.mock.calls.length).toBeLessThan(10);
    await api.stop();
  });

  it('logs once that Redis is away, and once that it is back', async () => {
    const lines = linesAboutRedis();
    const connected = jest.spyOn(Redis.prototype, 'connect');
    const api = await startApi(ANY_STORE, { ...LIMIT, REDIS_URL: redis.url }, [FixtureModule]);
    const isCounting = async () => (await ask(api, '203.0.113.1')).headers['ratelimit-reset'] !== '0';
    await until('Redis counts', isCounting);
    expect(lines).toEqual([]);

    await redis.stop();
    await until('it is logged', () => lines.length > 0);
    const tried = connected.mock.calls.length;
    await until('the service has tried again', () => connected.mock.calls.length > tried + 2);
    expect(lines).toEqual([expect.stringMatching(/^Redis is away: .*ECONNREFUSED/)]);
    await redis.start();
    await until('Redis counts', isCounting);
    expect(lines).toEqual([expect.any(String), 'Redis is back: all replicas share the limit']);
    await api.stop();
  });

  it('lets requests pass while Redis is full, and logs that once', async () => {
    const lines = linesAboutRedis();
    const operator = new Redis(redis.url);
    await operator.config('SET', 'maxmemory', '1');
    const api = await startApi(ANY_STORE, { ...LIMIT, REDIS_URL: redis.url }, [FixtureModule]);
    await until('it is logged', async () => {
      expect(await ask(api, '203.0.113.1')).toHaveStatus(200);
      return lines.length > 0;
    });
    for (let n = 0; n < 20; n++) expect(await ask(api, '203.0.113.1')).toHaveStatus(200);

    expect(lines).toEqual([expect.stringMatching(/^Redis is away: .*OOM/)]);
    await api.stop();
    operator.disconnect();
  });

  it('does not log the password that Redis rejects', async () => {
    const lines = linesAboutRedis();
    const url = redis.url.replace('//', '//someone:correct-horse@');
    const api = await startApi(ANY_STORE, { ...LIMIT, REDIS_URL: url }, [FixtureModule]);
    await until('the rejection is logged', () => lines.length > 0);

    expect(JSON.stringify(lines)).toContain('WRONGPASS');
    expect(JSON.stringify(lines)).not.toContain('correct-horse');
    await api.stop();
  });
});

/** Collects what is logged about Redis from now on. */
function linesAboutRedis(): unknown[] {
  const lines: unknown[] = [];
  for (const level of ['log', 'warn'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => {
      if (JSON.stringify(line).includes('Redis is')) lines.push(line);
    });
  }
  return lines;
}
