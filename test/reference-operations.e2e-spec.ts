import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { furtherRoutes } from './support/further-routes.js';
import { onEach } from './support/on-each.js';
import { examplesOf, type Operation, operations, ownOperations } from './support/reference.js';
import { existingPath, fieldsOf, fill, isFillable, send, validBody } from './support/requests.js';
import { ANY_STORE } from './support/stores.js';

onEach('the security in the reference', { settings: { WRITE_ACCESS: 'staff' } }, ({ api }) => {
  beforeAll(async () => {
    await api.accounts.register('staff@example.com');
    await api.accounts.makeSuperuser('staff@example.com');
  });

  const isRejected = ({ status, body }: Reply) => status === 401 || body?.error?.code === 'CSRF_FAILED';

  it.each(
    operations
      .filter(({ operation }) => operation.security.length > 0)
      .map((each) => [each.method, each.path, each] as const),
  )('is what the service accepts: %s %s', async (method, path, { operation }) => {
    // Each call has a login of its own, because a call may end the other logins of the account.
    const logIn: Record<string, () => Promise<Record<string, string>>> = {
      session: async () => (await api.accounts.session('staff@example.com')).cookie,
      'session+csrf': async () => (await api.accounts.session('staff@example.com')).headers,
      bearer: async () => bearer((await api.accounts.login('staff@example.com')).access),
    };
    const declared = operation.security.map((way: object) => Object.keys(way).join('+'));
    // A stream that is accepted would not end.
    const query = path.endsWith('/stream') ? '?last_event_id=x' : '';

    const accepted: string[] = [];
    for (const [way, headers] of Object.entries(logIn)) {
      const reply = await send(api, method, fill(path) + query, {}, await headers());
      if (!isRejected(reply)) accepted.push(way);
    }
    // Sending the CSRF token where it is not needed does no harm.
    const needed = accepted.filter((way) => way !== 'session+csrf' || !accepted.includes('session'));
    expect(needed.toSorted()).toEqual(declared.filter((way: string) => way !== '').toSorted());
  });

  it('is optional where a body has credentials', () => {
    const resend = operations.find(({ path }) => path === '/auth/email/resend/')!;
    expect(resend.operation.security).toContainEqual({});
    expect(resend.operation.requestBody.required).toBe(false);
  });

  it.each(
    operations
      .filter(({ operation }) => operation.requestBody !== undefined)
      .map((each) => [each.method, each.path, each] as const),
  )('requires a body where the service does: %s %s', async (method, path, { operation }) => {
    const headers = bearer((await api.accounts.login('staff@example.com')).access);
    const { status } = await send(api, method, fill(path), undefined, headers);

    expect([400, 415, 422].includes(status)).toBe(operation.requestBody.required);
  });
});

/** What a caller lacks whose credentials are valid, by the start of the message. */
const LACKS = [
  'A staff account is required',
  'The API key does not allow this',
  'This call needs a login',
] as const;

const MINUTE = 60_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ALL = ownOperations.map((each) => [each.method, each.path, each] as const);
/** The providers of social login have their own tests. */
const OWN = ALL.filter(([, path]) => !path.includes('{provider}'));
const FILLABLE = OWN.filter(([, path]) => isFillable(path));

/** A stream that is accepted would not end. */
const finite = (url: string) => (url.endsWith('/stream') ? `${url}?last_event_id=x` : url);

const isTaking = (header: string) => (operation: Operation) =>
  operation.operation.parameters?.some(({ name }: any) => name === header) === true;

onEach('every operation', { settings: { WRITE_ACCESS: 'staff' } }, ({ api, store }) => {
  let user: Record<string, string>;
  let staff: Record<string, string>;
  let session: Record<string, string>;
  let keys: Record<string, string>[];
  beforeAll(async () => {
    user = await api.accounts.logInNew('user@example.com');
    staff = await api.accounts.logInNewSuperuser('staff@example.com');
    session = (await api.accounts.session('staff@example.com')).headers;
    const { prepare } = await furtherRoutes();
    await prepare(api, staff);
    const create = (scope: string) => api.post('/auth/api-keys/', { name: 'K', scope }, staff);
    keys = [await create('read'), await create('write')].map(({ body }) => bearer(body.data.key));
  });

  // What the database does not decide.
  if (store === ANY_STORE) {
    it.each(ALL)('has a new id for each response: %s %s', async (method, path) => {
      const sent = '123e4567-e89b-42d3-a456-426614174000';
      const call = (headers?: Record<string, string>) => send(api, method, finite(fill(path)), {}, headers);
      const replies = [await call(), await call({ 'x-request-id': sent })];
      const ids = replies.map(({ headers }) => headers['x-request-id']);

      for (const id of ids) expect(id).toMatch(UUID);
      expect(new Set([...ids, sent]).size).toBe(3);
    });

    it.each(ALL)('is never 406: %s %s', async (method, path) => {
      // A write by staff would change what the other tests need.
      const caller = method === 'GET' ? session : {};
      const call = (headers = {}) => send(api, method, finite(fill(path)), {}, { ...caller, ...headers });
      const plain = await call();
      const reply = await call({ accept: 'image/png' });

      expect(reply.status).toBe(plain.status);
      expect(reply.headers['content-type']).toBe(plain.headers['content-type']);
    });

    it.each([...new Set(ownOperations.map(({ path }) => path))])(
      'has only the methods of its path: %s',
      async (path) => {
        const known = operations.filter((each) => each.path === path).map(({ method }) => method);
        const allowed = known.includes('GET') ? [...known, 'HEAD'] : known;
        // A path that is read reserves its name for reads only: `PATCH /v1/notes/recent` belongs to `/v1/notes/{id}`.
        const isName = (other: Operation) => {
          const pattern = new RegExp(`^${other.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
          return known.includes('GET') && pattern.test(path);
        };
        const others = METHODS.filter(
          (method) => !operations.some((each) => each.method === method && isName(each)),
        );
        for (const method of others.filter((each) => !known.includes(each))) {
          const reply = await send(api, method, fill(path, 'abc'), '{', staff);
          expect(reply).toBeError('METHOD_NOT_ALLOWED');
          expect([method, reply.headers['allow']]).toEqual([method, allowed.toSorted().join(', ')]);
        }
      },
    );

    it.each(FILLABLE.filter(([, , { operation }]) => operation.requestBody?.required))(
      'reports each field that is missing or has the wrong type: %s %s',
      async (method, path, { operation }) => {
        const { properties, required } = fieldsOf(operation);
        const url = await existingPath(api, path, staff);
        const valid = validBody(operation);
        const isObject = (name: string) => [properties[name].type].flat().includes('object');
        const invalid: [name: string, body: object][] = [
          ...Object.keys(properties).map((name): [string, object] => [
            name,
            { ...valid, [name]: isObject(name) ? 'x' : { wrong: true } },
          ]),
          ...required.map((name): [string, object] => [name, { ...valid, [name]: undefined }]),
        ];
        expect(invalid).not.toEqual([]);
        for (const [name, body] of invalid) {
          const reply = await send(api, method, url, body, staff);
          const { code, message, details } = reply.body.error;
          expect([name, reply.status, code]).toEqual([name, 422, 'VALIDATION_ERROR']);
          // Without details, the message begins with the field.
          const fields = details?.map(({ field }: any) => field) ?? message.split(' ', 1);
          expect([name, fields]).toEqual([name, expect.arrayContaining([name])]);
        }
      },
    );
  }

  it.each(
    OWN.flatMap(([method, path, operation]) =>
      LACKS.filter((lack) =>
        examplesOf(operation, 'FORBIDDEN').some(({ error }) => error.message.startsWith(lack)),
      ).map((lack) => [lack, method, path, operation] as const),
    ),
  )('has the example "%s" of FORBIDDEN: %s %s', async (lack, method, path, operation) => {
    const { requestBody } = operation.operation;
    const { password: _, ...body } = requestBody?.required ? validBody(operation.operation) : {};
    const isAboutKeys = lack === LACKS[1];
    const [readKey] = keys;
    // Below `/auth/`, no scope suffices.
    const callers = {
      [LACKS[0]]: [user],
      [LACKS[1]]: path.startsWith('/auth/') ? keys : [readKey!],
      [LACKS[2]]: [staff],
    };
    if (lack === LACKS[2]) api.moveClock(6 * MINUTE);
    for (const caller of callers[lack]) {
      const reply = await send(api, method, fill(path), isAboutKeys ? undefined : body, caller);
      expect(examplesOf(operation, 'FORBIDDEN')).toContainEqual(reply.body);
      expect(reply.body.error.message).toMatch(lack);
    }
  });

  it.each(FILLABLE.filter(([, , each]) => isTaking('Idempotency-Key')(each)))(
    'repeats its response for a key: %s %s',
    async (method, path, { operation }) => {
      const headers = { ...staff, 'idempotency-key': randomUUID() };
      const body = validBody(operation);
      const url = await existingPath(api, path, staff);
      const first = await send(api, method, url, body, headers);
      const second = await send(api, method, url, body, headers);

      expect(first).toHaveStatus(201);
      expect([second.status, second.text]).toEqual([201, first.text]);
      expect(first.headers).not.toHaveProperty('idempotent-replayed');
      expect(second.headers['idempotent-replayed']).toBe('true');
      for (const name of ['location', 'etag', 'cache-control'])
        expect(second.headers[name]).toBe(first.headers[name]);
    },
  );

  // A team may have removed all of them.
  it('is not sent again to who has it, where it has a tag', async () => {
    for (const [, path] of FILLABLE.filter(([, , each]) => isTaking('If-None-Match')(each))) {
      const url = await existingPath(api, path, staff);
      const { headers } = await api.get(url, staff);
      const { etag, vary, 'cache-control': cacheControl } = headers;
      for (const tag of [etag!, `"x", W/${etag}`, '*']) {
        const reply = await api.get(url, { ...staff, 'if-none-match': tag });
        expect([path, tag, reply.status, reply.text]).toEqual([path, tag, 304, '']);
        expect(reply.headers).toMatchObject({ etag, 'cache-control': cacheControl, ...(vary && { vary }) });
        expect(reply.headers).not.toHaveProperty('content-type');
      }
      expect(await api.get(url, { ...staff, 'if-none-match': '"x"' })).toHaveStatus(200);
    }
  });

  // By their path: what belongs to accounts is chosen by a tag, which the decorator sets that is tested here.
  it.each(
    operations
      .map((each) => [each.method, each.path, each] as const)
      .filter(([, path]) => path.startsWith('/auth/') && !path.includes('{provider}'))
      .filter(([, , { operation }]) => operation.security.length > 0),
  )('lets an API key below /auth/ read its account only: %s %s', async (method, path) => {
    const allowed = method === 'GET' && path === '/auth/me/';
    for (const key of keys) {
      const { status, body } = await send(api, method, fill(path), undefined, key);
      expect([status, body.error?.code]).toEqual(allowed ? [200, undefined] : [403, 'FORBIDDEN']);
    }
  });

  it.each(FILLABLE.filter(([method]) => method === 'GET'))(
    'also answers HEAD, and with or without a slash at the end: %s %s',
    async (_, path) => {
      const url = await existingPath(api, path, staff);
      const [bare, query = ''] = finite(url).split('?');
      const other = bare === '/' ? '/' : bare!.endsWith('/') ? bare!.slice(0, -1) : `${bare}/`;
      const plain = await api.get(finite(url), session);
      const slash = await api.get(`${other}?${query}`, session);
      const head = await api.send({ method: 'HEAD', url: finite(url), headers: session });

      expect(plain.status).toBe(path.endsWith('/stream') ? 400 : 200);
      expect([slash.status, head.status, head.text]).toEqual([plain.status, plain.status, '']);
      expect(slash.text).toBe(plain.text);
      expect(head.headers['content-type']).toBe(plain.headers['content-type']);
    },
  );

  it.each(FILLABLE.filter(([method]) => method === 'GET'))(
    'succeeds with the examples of its parameters: %s %s',
    async (_, path, { operation }) => {
      const url = new URL(await existingPath(api, path, staff), 'http://x');
      const headers: Record<string, string> = { ...session };
      for (const { in: place, name, example } of operation.parameters ?? []) {
        if (place === 'query') url.searchParams.set(name, example);
        if (place === 'header') headers[name] = String(example);
      }
      // A stream that is accepted would not end.
      if (path.endsWith('/stream')) url.searchParams.set('last_event_id', 'x');
      const { status } = await api.get(url.pathname + url.search, headers);
      expect(status).toBe(path.endsWith('/stream') ? 400 : 200);
    },
  );

  const isTagged = ({ operation }: Operation) =>
    Object.entries<any>(operation.responses).some(
      ([status, { headers }]) => status.startsWith('2') && headers?.ETag,
    );

  it('sends the tag of the next read with a write, where it has one', async () => {
    const writes = FILLABLE.filter(([method, , each]) => method !== 'GET' && isTagged(each));
    for (const [method, path, { operation }] of writes) {
      const url = await existingPath(api, path, staff);
      const before = method === 'POST' ? undefined : await api.get(url, staff);
      const reply = await send(api, method, url, validBody(operation), staff);
      const next = await api.get(reply.headers['location'] ?? url, staff);

      expect([path, reply.headers['etag']]).toEqual([path, expect.stringMatching(/^".+"$/)]);
      expect(reply.headers['etag']).not.toBe(before?.headers['etag']);
      for (const name of ['etag', 'cache-control']) expect(reply.headers[name]).toBe(next.headers[name]);
    }
  });

  it.each(FILLABLE.filter(([method]) => method === 'GET'))(
    'says who may keep it: %s %s',
    async (_, path, { operation }) => {
      const url = finite(await existingPath(api, path, staff));
      const { status, headers } = await api.get(url, session);
      expect(status).toBe(path.endsWith('/stream') ? 400 : 200);
      const depends = operation.security.length > 0;
      const ofTag = depends ? 'private, no-cache' : 'no-cache';
      const isNeverKept = /^\/(auth|health)\b/.test(path) || (depends && headers['etag'] === undefined);
      const own = path === '/.well-known/jwks.json' ? 'public, max-age=300' : 'no-cache';

      const conditional = await api.get(url, { ...session, 'if-none-match': '*' });
      expect(conditional.status).toBe(headers['etag'] === undefined ? status : 304);
      expect(headers['etag'] !== undefined).toBe(isTagged({ operation } as Operation));
      expect(headers['cache-control']).toBe(isNeverKept ? 'no-store' : headers['etag'] ? ofTag : own);
      expect(headers['vary']?.includes('Authorization, Cookie') ?? false).toBe(depends);
      const refused = (await api.get(url, bearer('x'))).headers['cache-control'];
      expect(refused === 'no-store').toBe(isNeverKept || depends);
    },
  );
});
