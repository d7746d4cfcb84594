import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERRORS as CODES } from '../src/common/errors/errors.js';
import { Transactions } from '../src/database/transactions.js';
import { PASSWORD, type Reply, startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

const PROBLEM = { accept: 'application/problem+json' };

describe.each(STORES)('problem details (RFC 9457) on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, { PUBLIC_URL: 'https://api.example/' });
  });
  afterAll(() => api.stop());

  const JSON_BODY = { 'content-type': 'application/json' };
  const ERRORS: [code: string, send: (headers: Record<string, string>) => Promise<Reply>][] = [
    ['NOT_FOUND', (headers) => api.get('/v1/posts/999999999', headers)],
    // Errors of Fastify and of the hooks, before any handler.
    ['NOT_FOUND', (headers) => api.get('/nowhere', headers)],
    ['METHOD_NOT_ALLOWED', (headers) => api.delete('/v1/posts', headers)],
    ['INVALID_ID', (headers) => api.get('/v1/posts/%ff', headers)],
    ['MALFORMED_REQUEST', (headers) => api.post('/v1/users', '{', headers)],
    ['PAYLOAD_TOO_LARGE', (headers) => api.post('/v1/users', `"${'x'.repeat(2 ** 20)}"`, headers)],
    [
      'UNSUPPORTED_MEDIA_TYPE',
      (headers) => api.post('/v1/users', '{}', { ...headers, 'content-type': 'text/plain' }),
    ],
    ['VALIDATION_ERROR', (headers) => api.post('/v1/users', {}, headers)],
    ['VALIDATION_ERROR', (headers) => api.post('/v1/posts', {}, headers)],
    ['UNAUTHENTICATED', (headers) => api.get('/auth/me/', headers)],
    ['MISSING_IDEMPOTENCY_KEY', (headers) => api.post('/v1/orders', {}, headers)],
    ['PRECONDITION_FAILED', (headers) => api.patch('/v2/users/1', {}, { ...headers, 'if-match': '"x"' })],
  ];

  it.each(ERRORS)('contain the same as the envelope: %s', async (code, send) => {
    const [envelope, problem] = [await send({}), await send(PROBLEM)];
    const { message, details } = envelope.body.error;

    expect(envelope).toBeError(code as never);
    expect(problem.status).toBe(envelope.status);
    expect(problem.headers['content-type']).toMatch(/^application\/problem\+json\b/);
    expect(problem.body).toEqual({
      type: `https://api.example/guides/errors#${code.toLowerCase()}`,
      title: expect.stringMatching(/^[A-Z][a-z ]+$/),
      status: envelope.status,
      detail: message,
      instance: `urn:uuid:${problem.headers['x-request-id']}`,
      code,
      ...(details && { errors: details }),
    });
    for (const reply of [envelope, problem]) expect(reply.headers['vary']).toContain('Accept');
    for (const name of ['www-authenticate', 'allow', 'access-control-allow-origin']) {
      expect(problem.headers[name]).toBe(envelope.headers[name]);
    }
  });

  it.each([
    ['application/problem+json', true],
    ['Application/Problem+JSON', true],
    ['application/json, application/problem+json', true],
    ['application/problem+json;q=0.9, */*;q=0.1', true],
    ['application/json;q=0.5, application/problem+json;q=0.8', true],
    ['application/json, application/problem+json;q=0.8', false],
    ['application/problem+json;q=0', false],
    ['application/problem+json;q=x', false],
    ['application/json', false],
    ['application/*', false],
    ['*/*', false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['application/problem+xml', false],
    ['xapplication/problem+json', false],
    ['', false],
  ])('depend on the Accept header: %j selects them: %j', async (accept, isProblem) => {
    const { headers, body } = await api.get('/v1/posts/x', { accept });

    expect(headers['content-type']!.startsWith('application/problem+json')).toBe(isProblem);
    expect('error' in body).toBe(!isProblem);
  });

  it('do not change successes, nor the one error with another format', async () => {
    expect((await api.get('/v1/posts', PROBLEM)).headers['content-type']).toMatch(/^application\/json/);
    await api.accounts.register('ada@example.com');
    const { access } = await api.accounts.login('ada@example.com');
    const reply = await api.post(
      '/auth/change-password/',
      { old_password: 'wrong', new_password: `${PASSWORD}!` },
      { ...JSON_BODY, ...PROBLEM, authorization: `Bearer ${access}` },
    );
    expect([reply.status, typeof reply.body.error]).toEqual([400, 'string']);
  });
});

it('problem details mask internal errors', async () => {
  const api = await startApi('SQLite');
  await api.app.get(Transactions).execute('ALTER TABLE accounts RENAME COLUMN email TO hidden');
  const reply = await api.post('/auth/login/', { email: 'a@example.com', password: PASSWORD }, PROBLEM);
  await api.stop();

  expect(reply.body).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
  expect(reply.text).not.toMatch(/accounts|SELECT/);
});

it('problem details link to a page that explains each code', async () => {
  const api = await startApi('SQLite');
  const { text } = await api.get('/guides/errors', { accept: 'text/html' });
  await api.stop();

  for (const code of Object.keys(CODES)) expect(text).toContain(`id="${code.toLowerCase()}"`);
});
