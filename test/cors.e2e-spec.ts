import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { operations } from './support/reference.js';
import { fill } from './support/requests.js';
import { ANY_STORE } from './support/stores.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const EXPOSED =
  'X-Request-ID, Location, Link, Retry-After, Idempotent-Replayed, ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset';

/** Asks, as a browser does, whether a page may send a request with some headers. */
const preflight = (api: TestApi, origin: string, url: string, method: string, headers: string) =>
  api.send({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    },
  });

describe('CORS', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const origin = 'https://app.example';

  it('allows any origin to read the responses and their headers, without credentials', async () => {
    for (const url of ['/v1/dummies', '/v1/dummies/abc', '/nowhere']) {
      const { headers } = await api.get(url, { origin });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
      expect(headers['access-control-expose-headers']).toBe(EXPOSED);
    }
  });

  it('responds to a preflight', async () => {
    const reply = await preflight(api, origin, '/v1/dummies/1', 'PATCH', 'content-type, idempotency-key');

    expect(reply).toHaveStatus(204);
    expect(reply.text).toBe('');
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'content-type, idempotency-key',
      'x-request-id': expect.stringMatching(UUID),
    });
  });
});

describe.each(['', 'https://a.example, https://b.example'])('with CORS_ORIGINS=%s', (origins) => {
  it('every path of the reference responds to a preflight, as does GraphQL', async () => {
    const origin = 'https://b.example';
    const api = await startApi(ANY_STORE, { CORS_ORIGINS: origins });
    const paths = operations.map(({ method, path }) => [method, fill(path)] as const);
    for (const [method, url] of [...paths, ['POST', '/graphql'], ['GET', '/graphql/']] as const) {
      const reply = await preflight(api, origin, url, method, 'content-type, authorization');
      expect([url, reply.status, reply.text]).toEqual([url, 204, '']);
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': origins === '' ? '*' : origin,
        'access-control-allow-methods': expect.stringContaining(method),
        'access-control-allow-headers': 'content-type, authorization',
        'x-request-id': expect.stringMatching(UUID),
      });
    }
    await api.stop();
  });
});

describe('CORS with an allow-list', () => {
  it('allows the listed origins to send credentials, and no others', async () => {
    const api = await startApi(ANY_STORE, {
      CORS_ORIGINS:
        'https://a.example, https://b.example, capacitor://localhost, ionic://localhost, tauri://localhost',
    });

    const listed = await api.get('/health', { origin: 'https://b.example' });
    expect(listed.headers).toMatchObject({
      'access-control-allow-origin': 'https://b.example',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': EXPOSED,
      vary: expect.stringContaining('Origin'),
    });
    const app = await api.get('/health', { origin: 'capacitor://localhost' });
    expect(app.headers).toMatchObject({
      'access-control-allow-origin': 'capacitor://localhost',
      'access-control-allow-credentials': 'true',
    });
    const other = await api.get('/health', { origin: 'https://c.example' });
    expect(other.headers).not.toHaveProperty('access-control-allow-origin');
    await api.stop();
  });
});

describe('CORS with credentials', () => {
  it('allows the configured origins, and no others, to send the CSRF token and the cookie', async () => {
    const api = await startApi(ANY_STORE, { CORS_ORIGINS: 'https://app.example.com' });
    const ask = (origin: string) => preflight(api, origin, '/auth/session/', 'DELETE', 'x-csrf-token');

    expect((await ask('https://app.example.com')).headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'x-csrf-token',
      'access-control-allow-methods': expect.stringContaining('DELETE'),
    });
    const stranger = await ask('https://evil.example');
    expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
    await api.stop();
  });
});
