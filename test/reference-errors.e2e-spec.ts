import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '../src/platform/http/errors/errors.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApi, type TestApi } from './support/api.js';
import { furtherRoutes } from './support/further-routes.js';
import { examplesOf, type Operation, operations } from './support/reference.js';
import { existingPath, fill, send, validBody } from './support/requests.js';
import { ANY_STORE, STORES } from './support/stores.js';

/**
 * Sends a request that causes an error code on any operation. Errors that depend on stored data have their own tests.
 */
type ErrorTrigger = (
  api: TestApi,
  operation: Operation,
  /** Replaces the parameters of a path with existing ids. */
  existing: (path: string) => Promise<string>,
) => Promise<Reply | Reply[]>;

const ERROR_TRIGGERS: Partial<Record<ErrorCode, ErrorTrigger>> = {
  INVALID_ID: async (api, { method, path }) => {
    const segments = path.split('/');
    const parameters = segments.keys().filter((n) => segments[n]!.startsWith('{'));
    return Promise.all(parameters.map((n) => send(api, method, fill(segments.with(n, 'abc').join('/')), {})));
  },
  NOT_FOUND: async (api, { method, path, operation }, existing) => {
    const segments = path.split('/');
    const parameters = segments.keys().filter((n) => segments[n]!.startsWith('{'));
    const body = operation.requestBody && validBody(operation);
    // Exactly one id at a time does not exist.
    return Promise.all(
      parameters.map(async (n) => {
        const absent = (await existing(path)).split('/').with(n, '999999999').join('/');
        return send(api, method, absent, body);
      }),
    );
  },
  INVALID_CURSOR: async (api, { path }, existing) =>
    api.get(`${await existing(path)}?cursor=x&last_event_id=x`),
  MALFORMED_REQUEST: (api, operation) => {
    const { message } = examplesOf(operation, 'MALFORMED_REQUEST')[0].error;
    const headers: Record<string, string> = message.startsWith('If-Match')
      ? { 'if-match': 'x' }
      : message.includes('Transfer-Encoding')
        ? { 'transfer-encoding': 'gzip, chunked' }
        : {};
    return send(api, operation.method, fill(operation.path), '{', headers);
  },
  PRECONDITION_FAILED: async (api, { method, path, operation }, existing) => {
    const body = operation.requestBody && validBody(operation);
    return send(api, method, await existing(path), body, { 'if-match': '"x"' });
  },
  UNSUPPORTED_MEDIA_TYPE: (api, operation) => {
    const { message } = examplesOf(operation, 'UNSUPPORTED_MEDIA_TYPE')[0].error;
    return send(api, operation.method, fill(operation.path), 'x', {
      'content-type': 'text/plain',
      // Some paths read any content type, but none reads a compressed body.
      ...(message.includes('compressed') && { 'content-encoding': 'gzip' }),
    });
  },
  PAYLOAD_TOO_LARGE: (api, { method, path }) => send(api, method, fill(path), `"${'x'.repeat(1024 * 1024)}"`),
  MISSING_IDEMPOTENCY_KEY: (api, { method, path }) =>
    send(api, method, fill(path), {}, { 'idempotency-key': '' }),
  INVALID_IDEMPOTENCY_KEY: (api, { method, path }) =>
    send(api, method, fill(path), {}, { 'idempotency-key': 'a b' }),
  IDEMPOTENCY_KEY_REUSED: async (api, { method, path, operation }, existing) => {
    const key = { 'idempotency-key': randomUUID() };
    const [url, body] = [await existing(path), validBody(operation)];
    await send(api, method, url, body, key);
    return send(api, method, url, { ...body, more: 1 }, key);
  },
  VALIDATION_ERROR: (api, { method, path, operation: { requestBody, parameters = [] } }) => {
    const names = parameters.filter((each: any) => each.in === 'query').map(({ name }: any) => `${name}=?`);
    const query = requestBody ? '' : `?${names.join('&')}`;
    return send(api, method, `${fill(path)}${query}`, []);
  },
};

type ErrorTriggers = Partial<Record<ErrorCode, (api: TestApi, operation: Operation) => Promise<Reply>>>;

/** Sent without credentials, and with an invalid token. */
const ANONYMOUS: ErrorTriggers = {
  UNAUTHENTICATED: (api, { method, path }) => send(api, method, fill(path), {}),
  TOKEN_NOT_VALID: (api, { method, path }) => send(api, method, fill(path), {}, bearer('x')),
};

/** Sent with a session cookie only. */
const BY_COOKIE = (cookie: () => string): ErrorTriggers => ({
  CSRF_FAILED: (api, { method, path }) => send(api, method, fill(path), {}, { cookie: cookie() }),
});

/** What is refused before the database is asked. */
const EARLY: ReadonlySet<ErrorCode> = new Set([
  'INVALID_ID',
  'INVALID_CURSOR',
  'MALFORMED_REQUEST',
  'UNSUPPORTED_MEDIA_TYPE',
  'PAYLOAD_TOO_LARGE',
  'MISSING_IDEMPOTENCY_KEY',
  'INVALID_IDEMPOTENCY_KEY',
  'VALIDATION_ERROR',
]);

const STAFF_ONLY = 'A staff account is required';

describe.each(STORES)('the examples of errors on %s', (store) => {
  let api: TestApi;
  let closed: TestApi;
  let user: Record<string, string>;
  let staff: Record<string, string>;
  let cookie: string;
  beforeAll(async () => {
    api = await startApi(store);
    closed = await startApi(store, { WRITE_ACCESS: 'staff' });
    user = await api.accounts.logInNewStaff('user@example.com');
    staff = await api.accounts.logInNewSuperuser('staff@example.com');
    const { prepare } = await furtherRoutes();
    for (const caller of [user, staff]) await prepare(api, caller);
    await closed.accounts.register('user@example.com');
    const session = await closed.post('/auth/session/', { email: 'user@example.com', password: PASSWORD });
    cookie = String(session.headers['set-cookie']).split(';', 1)[0]!;
  });
  afterAll(async () => {
    await api.stop();
    await closed.stop();
  });

  /** Returns the credentials of an account that the operation allows. */
  const callerOf = (operation: Operation, code: ErrorCode) => {
    const isForStaff = examplesOf(operation, 'FORBIDDEN').some(({ error }) => error.message === STAFF_ONLY);
    return isForStaff && code !== 'FORBIDDEN' ? staff : user;
  };

  const cases = (triggers: typeof ERROR_TRIGGERS | ErrorTriggers) =>
    (Object.keys(triggers) as ErrorCode[])
      .filter((code) => store === ANY_STORE || !EARLY.has(code))
      .flatMap((code) =>
        operations
          // The providers of social login have their own tests.
          .filter(
            (operation) => examplesOf(operation, code).length > 0 && !operation.path.includes('{provider}'),
          )
          // Such as a feature that is off: no id is absent.
          .filter(({ path }) => code !== 'NOT_FOUND' || path.includes('{'))
          .map((operation) => [code, operation.method, operation.path, operation] as const),
      );

  it.each(cases(ERROR_TRIGGERS))(
    'an example of %s is returned by %s %s',
    async (code, _method, _path, operation) => {
      const { security } = operation.operation;
      const authorize = security.length > 0 && security.every((way: object) => Object.keys(way).length > 0);
      const caller = Object.create(api, {
        send: {
          value: (options: any) =>
            api.send({
              ...options,
              headers: { ...(authorize && callerOf(operation, code)), ...options.headers },
            }),
        },
      }) as TestApi;
      const existing = (path: string) => existingPath(api, path, user);
      const replies = [await ERROR_TRIGGERS[code]!(caller, operation, existing)].flat();

      expect(replies.length).toBeGreaterThan(0);
      for (const { body } of replies) expect(examplesOf(operation, code)).toContainEqual(body);
    },
  );

  const byCookie = BY_COOKIE(() => cookie);
  it.each(cases(byCookie))(
    'an example of %s is returned by %s %s with a session cookie',
    async (code, _method, _path, operation) => {
      const { body } = await byCookie[code]!(closed, operation);

      expect(examplesOf(operation, code)).toContainEqual(body);
    },
  );

  if (store === ANY_STORE) {
    it.each(
      cases(ANONYMOUS).filter(
        ([, , path, { operation }]) => !path.startsWith('/auth/') || operation.security.length > 0,
      ),
    )(
      'an example of %s is returned by %s %s without valid credentials',
      async (code, _method, _path, operation) => {
        const { body } = await ANONYMOUS[code]!(closed, operation);

        expect(examplesOf(operation, code)).toContainEqual(body);
      },
    );
  }
});
