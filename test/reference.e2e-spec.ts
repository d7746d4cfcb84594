import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type ErrorCode, ERRORS } from '../src/common/errors/errors.js';
import { findHandlers } from '../src/reference/handlers.js';
import { buildDocument } from '../src/reference/build-document.js';
import { bearer, PASSWORD, type Reply, startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { type Operation, operations, reference } from './support/reference.js';
import { STORES } from './support/stores.js';

describe('The reference', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi('SQLite');
    await api.app.listen(0, '127.0.0.1');
  });
  afterAll(() => api.stop());

  it('is the one that is committed, and served', async () => {
    expect(JSON.parse(JSON.stringify(await buildDocument(api.app)))).toEqual(reference);
    expect((await api.get('/openapi.json')).body).toEqual(reference);
  });

  it('is there as OpenAPI 3.0 as well', async () => {
    const { body } = await api.get('/openapi-3.0.json');
    const file = join(await mkdtemp(join(tmpdir(), 'openapi-')), 'openapi.json');
    await writeFile(file, JSON.stringify(body));

    // Rejects with all that does not fit the version.
    await promisify(execFile)('node_modules/.bin/redocly', ['lint', '--config=redocly.yaml', file]);
    expect(body.openapi).toBe('3.0.3');
    expect(Object.keys(body.paths)).toEqual(Object.keys(reference.paths));
    expect(body.components.schemas.CreatePostInput.properties.status).toMatchObject({ nullable: true });
  });

  it('has every handler, with a summary', () => {
    const ids = new Set<string>(
      operations.map(({ operation }) => operation.operationId.replace(/_v\d+$/, '')),
    );

    expect([...findHandlers(api.app).keys()].toSorted()).toEqual([...ids].toSorted());
    for (const { operation } of operations) expect(operation.summary).toMatch(/^[A-Z]/);
  });

  it('has an explanation for every code on the page of errors', () => {
    const page = readFileSync('docs/errors.md', 'utf8');

    for (const [code, { status }] of Object.entries(ERRORS)) {
      // When it comes, and what to do.
      expect(page).toMatch(new RegExp(`^\\| \`${code}\` +\\| ${status} +\\| [A-Z].+ \\| [A-Z].+ \\|$`, 'm'));
    }
  });

  (hasBrowser ? describe : describe.skip)('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.close());

    it('is a page that asks nobody else, and tries an operation out', async () => {
      const page = await browser.newPage();
      const troubles: string[] = [];
      const hosts = new Set<string>();
      page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
      page.on('pageerror', (error) => troubles.push(error.message));
      page.on(
        'request',
        (request) => !request.url().startsWith('data:') && hosts.add(new URL(request.url()).host),
      );
      await page.goto(`${await api.app.getUrl()}/docs`);

      await page.click('#operations-Health-Health_live');
      await page.click('#operations-Health-Health_live .execute');
      await page.waitForSelector('.live-responses-table .response-col_status >> text=200');

      expect(await page.isVisible('.authorize')).toBe(true);
      expect([...hosts]).toEqual([new URL(page.url()).host]);
      expect(troubles).toEqual([]);
    });
  });
});

/** How to be refused by any operation that can be. What depends on what is stored is up to the tests of it. */
const PROVOCATIONS: Partial<Record<ErrorCode, (api: TestApi, operation: Operation) => Promise<Reply>>> = {
  INVALID_ID: (api, { method, path }) => send(api, method, path.replaceAll(/\{\w+\}/g, 'abc'), {}),
  NOT_FOUND: async (api, { method, path, operation }) => {
    const absent = path
      .replace('{id}', path.includes('{pid}') ? '1' : '999999999')
      .replace('{pid}', '999999999');
    return send(api, method, absent, operation.requestBody && validBody(operation));
  },
  INVALID_CURSOR: (api, { path }) => api.get(`${path}?cursor=x`),
  MALFORMED_REQUEST: (api, { method, path }) => send(api, method, one(path), '{'),
  UNSUPPORTED_MEDIA_TYPE: (api, { method, path }) =>
    send(api, method, one(path), 'x', {
      'content-type': 'text/plain',
      // Some paths read any type, and none reads what is compressed.
      ...(/^.v1.(posts|orders)/.test(path) && { 'content-encoding': 'gzip' }),
    }),
  PAYLOAD_TOO_LARGE: (api, { method, path }) => send(api, method, one(path), `"${'x'.repeat(1024 * 1024)}"`),
  MISSING_IDEMPOTENCY_KEY: (api, { method, path }) => send(api, method, path, {}, { 'idempotency-key': '' }),
  INVALID_IDEMPOTENCY_KEY: (api, { method, path }) =>
    send(api, method, path, {}, { 'idempotency-key': 'a b' }),
  IDEMPOTENCY_KEY_REUSED: async (api, { method, path, operation }) => {
    const key = { 'idempotency-key': `${method} ${path}`.replaceAll(' ', '') };
    const body = validBody(operation);
    await send(api, method, path, body, key);
    return send(api, method, path, { ...body, more: 1 }, key);
  },
  VALIDATION_ERROR: (api, { method, path }) => send(api, method, one(path), []),
};

/** As nobody, and with a token that is none. */
const ANONYMOUS: typeof PROVOCATIONS = {
  UNAUTHENTICATED: (api, { method, path }) => send(api, method, one(path), {}),
  TOKEN_NOT_VALID: (api, { method, path }) => send(api, method, one(path), {}, bearer('x')),
};

/** By a session cookie alone. */
const BY_COOKIE = (cookie: () => string): typeof PROVOCATIONS => ({
  CSRF_FAILED: (api, { method, path }) => send(api, method, one(path), {}, { cookie: cookie() }),
});

/** What an operation takes, by its schema. */
function validBody(operation: Operation['operation']): object {
  const { $ref = '' } = operation.requestBody.content['application/json'].schema;
  const { properties = {} } = reference.components.schemas[$ref.split('/').at(-1)] ?? {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, validValue(name, schema)]),
  );
}

function validValue(name: string, { type, enum: words, minimum }: any): unknown {
  if (words) return words[0];
  if (name === 'email') return 'reused@example.com';
  if (name === 'phone') return '+44 20 7946 0000';
  if ([type].flat().includes('string')) return 'Some words';
  return minimum ?? 1;
}

const one = (path: string) => path.replaceAll(/\{\w+\}/g, '1');

const send = (
  api: TestApi,
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  api.send({
    method,
    url,
    headers: {
      'idempotency-key': randomUUID(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined &&
      method !== 'GET' && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

const examplesOf = ({ operation }: Operation, code: ErrorCode) =>
  operation.responses[ERRORS[code].status]?.content?.['application/json']?.examples?.[code];

describe.each(STORES)('The examples of refusals on %s', (store) => {
  let api: TestApi;
  let closed: TestApi;
  let user: Record<string, string>;
  let cookie: string;
  beforeAll(async () => {
    api = await startApi(store);
    closed = await startApi(store, { WRITE_ACCESS: 'staff' });
    await api.accounts.register('user@example.com');
    user = bearer((await api.accounts.login('user@example.com')).access);
    await closed.accounts.register('user@example.com');
    const session = await closed.post('/auth/session/', { email: 'user@example.com', password: PASSWORD });
    cookie = String(session.headers['set-cookie']).split(';', 1)[0]!;
  });
  afterAll(async () => {
    await api.stop();
    await closed.stop();
  });

  const cases = (provocations: typeof PROVOCATIONS) =>
    (Object.keys(provocations) as ErrorCode[]).flatMap((code) =>
      operations
        // Providers of social login have tests of their own.
        .filter((operation) => examplesOf(operation, code) && !operation.path.includes('{provider}'))
        .map((operation) => [code, operation.method, operation.path, operation] as const),
    );

  it.each(cases(PROVOCATIONS))('%s is true of %s %s', async (code, _method, _path, operation) => {
    const { security } = operation.operation;
    const authorize = security.length > 0 && security.every((way: object) => Object.keys(way).length > 0);
    const caller = Object.create(api, {
      send: {
        value: (options: any) =>
          api.send({ ...options, headers: { ...(authorize && user), ...options.headers } }),
      },
    }) as TestApi;
    const { body } = await PROVOCATIONS[code]!(caller, operation);

    expect(body).toEqual(examplesOf(operation, code).value);
  });

  const byCookie = BY_COOKIE(() => cookie);
  it.each(cases(byCookie))('%s is true of %s %s', async (code, _method, _path, operation) => {
    const { body } = await byCookie[code]!(closed, operation);

    expect(body).toEqual(examplesOf(operation, code).value);
  });

  it.each(
    cases(ANONYMOUS).filter(
      ([, , path, { operation }]) => !path.startsWith('/auth/') || operation.security.length > 0,
    ),
  )('%s is true of %s %s', async (code, _method, _path, operation) => {
    const { body } = await ANONYMOUS[code]!(closed, operation);

    expect(body).toEqual(examplesOf(operation, code).value);
  });
});
