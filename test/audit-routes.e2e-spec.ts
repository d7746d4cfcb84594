import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { FixtureModule } from './support/fixture.module.js';
import { furtherRoutes } from './support/further-routes.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { operations } from './support/reference.js';
import { existingPath, send, validBody } from './support/requests.js';
import { STEP, totpCode, turnOnFactor } from './support/second-factor.js';
import { GitHub } from './support/social/github.js';
import { Visitor } from './support/social/visitor.js';
import { statementsOf } from './support/statements.js';

const PUBLIC_URL = 'https://api.example.com';
const NEW_PASSWORD = 'a wholly new password';
const MINUTE = 61_000;

/** Routes whose successful calls have no entry. */
const WITHOUT_ENTRY: Readonly<Record<string, string>> = {
  'POST /auth/refresh': 'continues a login, which has an entry',
  'POST /auth/verify': 'only reads',
  'POST /auth/passkeys/login/options': 'nobody is known yet, and nothing is stored',
  'POST /auth/password/reset': 'whoever asks may not be the owner; the confirmation has an entry',
  'POST /graphql': 'its mutations have entries',
};

/** A `GET` that changes something. */
const WRITING_READS = new Set(['GET /auth/social/:provider/callback']);

const { routes: FURTHER, prepare } = await furtherRoutes();

interface Route {
  readonly method: string | readonly string[];
  readonly url: string;
}

const RECORD = /^INSERT INTO "?(mails|events|audit_entries)\b/;
const BOUNDARY = /^(START|SAVEPOINT|COMMIT|ROLLBACK|RELEASE)/;
const WRITE = /^(WITH|INSERT|UPDATE|DELETE)/;
const OF_RECORDS = /^(INSERT INTO|UPDATE|DELETE FROM) "?(mails|events|audit_entries)\b/;

/** The records that are written by themselves, where a kill of the process would separate them from their change. */
function recordsAlone(statements: readonly string[]): string[] {
  const transactions: string[][] = [[]];
  let depth = 0;
  for (const sql of statements) {
    const before = depth;
    // On SQLite, several units of work share a transaction, in which each has a savepoint.
    if (/^(START|SAVEPOINT)/.test(sql)) depth++;
    else if (/^(COMMIT|ROLLBACK$|RELEASE)/.test(sql)) depth = Math.max(0, depth - 1);
    if (before !== depth && Math.min(before, depth) === 0) transactions.push([]);
    // Without a transaction, each is one.
    else if (depth === 0) transactions.push([], [sql], []);
    else if (!BOUNDARY.test(sql)) transactions.at(-1)!.push(sql);
  }
  return transactions.flatMap((all) => {
    const others = all.filter((sql) => !RECORD.test(sql));
    const hasChange = others.some((sql) => WRITE.test(sql) && !OF_RECORDS.test(sql));
    // The challenge of a passkey is not stored: its entry stands beside what it has read.
    const isAlone = (sql: string) => (sql.includes('audit_entries') ? others.length === 0 : !hasChange);
    return all.filter((sql) => RECORD.test(sql) && isAlone(sql));
  });
}

const OPTIONS = {
  settings: {
    PUBLIC_URL,
    SOCIAL_LOGIN_REDIRECT: 'https://app.example.com/welcome',
    WRITE_ACCESS: 'authenticated',
  },
  modules: [FixtureModule],
  servers: { ...MAILS, github: () => new GitHub() },
};
onEach('every writing route and mutation', OPTIONS, ({ api, mails, github }) => {
  let staff: Record<string, string>;
  let count = 0;
  beforeAll(async () => {
    staff = await api.accounts.logInNewStaff();
  });

  const entriesOf = async ({ headers }: Reply): Promise<any[]> => {
    const { data } = (await api.get('/v1/audit?limit=100', staff)).body;
    return data.filter((entry: any) => entry.request_id === headers['x-request-id']);
  };

  /** A new account with a verified e-mail. */
  const person = async (isVerified = true) => {
    const email = `person${++count}@example.com`;
    const { id } = await api.accounts.register(email);
    if (isVerified) await api.accounts.admin().verifyEmail(email);
    const tokens = await api.accounts.login(email);
    return { id: id as number, email, ...tokens, headers: bearer(tokens.access) };
  };
  type Person = Awaited<ReturnType<typeof person>>;

  const superuser = async () => {
    const { email } = await person();
    await api.accounts.makeSuperuser(email);
    return bearer((await api.accounts.login(email)).access);
  };

  /** A request with a body, also with `DELETE`. */
  const call = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
    send(api, method, path, body, headers);

  const setUp = async ({ headers }: Person): Promise<string> =>
    (await api.post('/auth/mfa/totp/', {}, headers)).body.secret;
  /** Turns the second factor on, and moves the clock until there is another code. */
  const turnOn = async (owner: Person): Promise<string> => {
    const { secret } = await turnOnFactor(api, owner.headers);
    api.moveClock(STEP);
    return totpCode(secret, STEP);
  };
  const addPasskey = async ({ headers }: Person, device = new Authenticator(PUBLIC_URL)) => {
    const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
    return api.post('/auth/passkeys/', { response: device.create(options), name: 'A' }, headers);
  };
  const link = async ({ headers }: Person): Promise<[id: number, callback: Reply]> => {
    const id = ++count;
    github.person = { id, login: `octo${id}`, name: null, emails: [] };
    const started = await api.post('/auth/social/github/link/', {}, headers);
    const visitor = new Visitor(api);
    visitor.keep(PUBLIC_URL, [started.headers['set-cookie'] ?? ''].flat());
    return [id, await visitor.get(await visitor.logInAt(started.body.authorization_url, String(id)))];
  };

  /** How to call what needs more than a valid body. */
  const SCENARIOS: Readonly<Record<string, () => Promise<Reply>>> = {
    'POST /v1/webhooks/:id/deliveries/:delivery/redeliver': async () => {
      const webhook = { url: 'http://127.0.0.1:9/', types: ['*'] };
      const { id } = (await api.post('/v1/webhooks', webhook, staff)).body.data;
      const delivery = (await api.post(`/v1/webhooks/${id}/test`, {}, staff)).body.data.id;
      return api.post(`/v1/webhooks/${id}/deliveries/${delivery}/redeliver`, {}, staff);
    },
    'POST /auth/register': () =>
      api.post('/auth/register/', { email: `new${++count}@example.com`, name: 'A', password: PASSWORD }),
    'POST /auth/login': async () =>
      api.post('/auth/login/', { email: (await person()).email, password: PASSWORD }),
    'POST /auth/logout': async () => {
      const { refresh, headers } = await person();
      return api.post('/auth/logout/', { refresh }, headers);
    },
    'POST /auth/session': async () =>
      api.post('/auth/session/', { email: (await person()).email, password: PASSWORD }),
    'DELETE /auth/session': async () =>
      api.delete('/auth/session/', (await api.accounts.session((await person()).email)).headers),
    'DELETE /auth/sessions': async () => api.delete('/auth/sessions/', (await person()).headers),
    'DELETE /auth/sessions/:id': async () => {
      const { headers } = await person();
      const [login] = (await api.get('/auth/sessions/', headers)).body.data;
      return api.delete(`/auth/sessions/${login.id}/`, headers);
    },
    'PATCH /auth/accounts/:id': async () =>
      api.patch(`/auth/accounts/${(await person()).id}/`, { is_staff: true }, await superuser()),
    'DELETE /auth/accounts/:id/sessions': async () =>
      api.delete(`/auth/accounts/${(await person()).id}/sessions/`, staff),
    'POST /auth/accounts/:id/reset-mfa': async () =>
      api.post(`/auth/accounts/${(await person()).id}/reset-mfa/`, {}, await superuser()),
    'PUT /auth/me': async () => api.put('/auth/me/', { name: 'A' }, (await person()).headers),
    'PATCH /auth/me': async () => api.patch('/auth/me/', {}, (await person()).headers),
    'DELETE /auth/me': async () =>
      call('DELETE', '/auth/me/', { password: PASSWORD }, (await person()).headers),
    'POST /auth/change-password': async () => {
      const passwords = { old_password: PASSWORD, new_password: NEW_PASSWORD };
      return api.post('/auth/change-password/', passwords, (await person()).headers);
    },
    'POST /auth/mfa/totp': async () => api.post('/auth/mfa/totp/', {}, (await person()).headers),
    'POST /auth/mfa/totp/confirm': async () => {
      const owner = await person();
      return api.post('/auth/mfa/totp/confirm/', { code: totpCode(await setUp(owner)) }, owner.headers);
    },
    'POST /auth/mfa/recovery-codes': async () => {
      const owner = await person();
      return api.post('/auth/mfa/recovery-codes/', { code: await turnOn(owner) }, owner.headers);
    },
    'DELETE /auth/mfa/totp': async () => {
      const owner = await person();
      return call('DELETE', '/auth/mfa/totp/', { code: await turnOn(owner) }, owner.headers);
    },
    'POST /auth/passkeys/options': async () =>
      api.post('/auth/passkeys/options/', {}, (await person()).headers),
    'POST /auth/passkeys': async () => addPasskey(await person()),
    'POST /auth/passkeys/login': async () => {
      const device = new Authenticator(PUBLIC_URL);
      await addPasskey(await person(), device);
      const options = (await api.post('/auth/passkeys/login/options/', {})).body;
      return api.post('/auth/passkeys/login/', { response: device.get(options) });
    },
    'DELETE /auth/passkeys/:id': async () => {
      const owner = await person();
      const { id } = (await addPasskey(owner)).body.data;
      return api.delete(`/auth/passkeys/${id}/`, owner.headers);
    },
    'POST /auth/api-keys': async () =>
      api.post('/auth/api-keys/', { name: 'A', scope: 'read' }, (await person()).headers),
    'DELETE /auth/api-keys/:id': async () => {
      const { headers } = await person();
      const { id } = (await api.post('/auth/api-keys/', { name: 'A', scope: 'read' }, headers)).body.data;
      return api.delete(`/auth/api-keys/${id}/`, headers);
    },
    'POST /auth/social/:provider/link': async () =>
      api.post('/auth/social/github/link/', {}, (await person()).headers),
    'GET /auth/social/:provider/callback': async () => (await link(await person()))[1],
    'DELETE /auth/identities/:id': async () => {
      const owner = await person();
      await link(owner);
      const [identity] = (await api.get('/auth/identities/', owner.headers)).body.data;
      return api.delete(`/auth/identities/${identity.id}/`, owner.headers);
    },
    'POST /auth/social/exchange': async () => {
      const [id] = await link(await person());
      const callback = await new Visitor(api).logIn('github', String(id));
      const code = new URL(callback.headers['location']!).searchParams.get('code');
      return api.post('/auth/social/exchange/', { code });
    },
    'POST /auth/email/verify': async () => {
      const token = tokenIn(await mails.next((await person(false)).email));
      return api.post('/auth/email/verify/', { token });
    },
    'POST /auth/email/resend': async () => {
      const { headers } = await person(false);
      api.moveClock(MINUTE);
      return api.post('/auth/email/resend/', {}, headers);
    },
    'POST /auth/email/change': async () => {
      const input = { new_email: `other${++count}@example.com`, password: PASSWORD };
      return api.post('/auth/email/change/', input, (await person()).headers);
    },
    'POST /auth/email/change/confirm': async () => {
      const input = { new_email: `other${++count}@example.com`, password: PASSWORD };
      await api.post('/auth/email/change/', input, (await person()).headers);
      return api.post('/auth/email/change/confirm/', { token: tokenIn(await mails.next(input.new_email)) });
    },
    'POST /auth/password/reset/confirm': async () => {
      const { email } = await person();
      await api.post('/auth/password/reset/', { email });
      const token = tokenIn(await mails.nextWith(email, 'Reset your password'));
      return api.post('/auth/password/reset/confirm/', { token, new_password: NEW_PASSWORD });
    },
    'POST /auth/refresh': async () => api.post('/auth/refresh/', { refresh: (await person()).refresh }),
    'POST /auth/verify': async () => api.post('/auth/verify/', { token: (await person()).access }),
    'POST /auth/passkeys/login/options': () => api.post('/auth/passkeys/login/options/', {}),
    'POST /auth/password/reset': async () =>
      api.post('/auth/password/reset/', { email: (await person()).email }),
    'POST /graphql': () => api.graphql('{ __typename }', {}, staff),
  };

  /** The routes of the service, without those of the fixture. */
  const routes = (): string[] => {
    const { areas } = api.app.getHttpAdapter().getInstance().routes as unknown as {
      areas: Map<string, Route[]>;
    };
    const all = [...areas.values()]
      .flat()
      .flatMap(({ method, url }) => [method].flat().map((name) => `${name} ${url.replace(/(?<=.)\/$/, '')}`));
    return all
      .filter((route) => !/ \/v1\/(dummies|stubs)/.test(route))
      .filter((route) => /^(?!GET|HEAD|OPTIONS)/.test(route) || WRITING_READS.has(route));
  };
  const schema = (): GraphQLSchema => api.app.get(GraphQLSchemaHost).schema;
  const mutations = (): GraphQLField<unknown, unknown>[] =>
    Object.values(schema().getMutationType()!.getFields());
  const operationOf = (route: string) => {
    const [method, url = ''] = route.split(' ');
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    return operations.find((each) => each.method === method && each.path.replace(/\/$/, '') === path);
  };

  /** Calls a route successfully, by its scenario or as the reference describes it. */
  async function succeed(route: string): Promise<Reply> {
    if (SCENARIOS[route]) return SCENARIOS[route]();
    await prepare(api, staff);
    const further = FURTHER[route];
    if (typeof further === 'function') return further(api, staff);
    const found = operationOf(route);
    if (!found) throw new Error(`${route} is not in the reference`);
    const { method, path, operation } = found;
    const body = operation.requestBody ? validBody(operation) : undefined;
    return send(api, method, await existingPath(api, path, staff), body, staff);
  }

  /** What each route has written and sent to the database: it is called once, because mails are limited. */
  let calls: Promise<{ route: string; entries: unknown; alone: string[] }[]> | undefined;
  async function callAll() {
    const called = [];
    for (const route of routes().filter((each) => typeof FURTHER[each] !== 'string')) {
      let reply!: Reply;
      const statements = await statementsOf(async () => (reply = await succeed(route)));
      const entries = await entriesOf(reply);
      const [method, url] = route.split(' ');
      const isNamed = entries.every(({ action }) => action === `${method} ${url}`);
      called.push({
        route,
        entries: reply.status < 400 && isNamed ? entries.length : `${reply.status} ${reply.text}`,
        alone: recordsAlone(statements),
      });
      api.moveClock(0);
    }
    return called;
  }

  it('adds one entry to the audit log, or has a reason to add none', async () => {
    const counts = (await (calls ??= callAll())).map(({ route, entries }) => [route, entries] as const);

    const expected = counts.map(([route]) => [route, WITHOUT_ENTRY[route] === undefined ? 1 : 0]);
    expect(counts).toEqual(expected);
    expect(counts.length).toBeGreaterThanOrEqual(Object.keys(SCENARIOS).length);
    const known = new Set([...routes(), ...mutations().map(({ name }) => `mutation ${name}`)]);
    const listed = [SCENARIOS, WITHOUT_ENTRY, FURTHER].flatMap((each) => Object.keys(each));
    expect(listed.filter((route) => !known.has(route))).toEqual([]);
  });

  it('records mails, events and entries in the transaction of what they are about', async () => {
    const recording = await (calls ??= callAll());

    // What a team has added may change something else than rows.
    const own = recording.filter(({ route }) => FURTHER[route] === undefined);
    expect(own.filter(({ alone }) => alone.length > 0)).toEqual([]);
  });

  it('adds no entry when it fails', async () => {
    const neverFailed: string[] = [];
    const entries: unknown[] = [];
    for (const route of routes()) {
      const [method = '', url = ''] = route.split(' ');
      const path = url.replaceAll(/:\w+/g, '99999999');
      const callers = [
        { authorization: 'Bearer wrong' },
        url.startsWith('/auth/') ? (await person()).headers : staff,
      ];
      const replies = await Promise.all(callers.map((headers) => send(api, method, path, '"x"', headers)));
      const failed = replies.filter(({ status }) => status >= 400);
      if (failed.length === 0) neverFailed.push(route);
      for (const reply of failed) entries.push(...(await entriesOf(reply)));
    }

    expect(entries).toEqual([]);
    // It reads neither a body nor a credential.
    expect(neverFailed).toEqual(['POST /auth/passkeys/login/options']);
  });

  describe('as a mutation', () => {
    function valueOf(name: string, type: GraphQLInputType): unknown {
      const named = getNamedType(type);
      if (isEnumType(named)) return named.getValues()[0]!.name;
      if (isInputObjectType(named)) {
        const fields = Object.values(named.getFields());
        return Object.fromEntries(fields.map((field) => [field.name, valueOf(field.name, field.type)]));
      }
      if (name === 'email') return 'reused@example.com';
      if (!isScalarType(named)) throw new Error(`There is no value for ${name}`);
      const values: Record<string, unknown> = { Boolean: true, Int: 1, Float: 1 };
      values['DateTime'] = new Date().toISOString();
      values['JSON'] = {};
      return values[named.name] ?? (name === 'idempotencyKey' ? randomUUID() : 'Some words');
    }

    async function variablesOf({ name, args }: GraphQLField<unknown, unknown>) {
      const noun = name.replace(/^[a-z]+/, '');
      const variables: Record<string, unknown> = {};
      for (const argument of args.filter(({ type }) => isNonNullType(type))) {
        const isId = getNamedType(argument.type).name === 'ID';
        // `id` is of the resource itself, `postId` of its parent.
        const parent = argument.name.slice(0, 1).toUpperCase() + argument.name.slice(1, -2);
        variables[argument.name] = isId
          ? await idOf(argument.name === 'id' ? noun : parent)
          : valueOf(argument.name, argument.type);
      }
      return variables;
    }

    async function run(mutation: GraphQLField<unknown, unknown>, changes: object = {}): Promise<Reply> {
      const { name, args, type } = mutation;
      const variables = { ...(await variablesOf(mutation)), ...changes };
      const given = args.filter((argument) => Object.hasOwn(variables, argument.name));
      const declared = given.map((argument) => `$${argument.name}: ${String(argument.type)}`).join(', ');
      const passed = given.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
      const selection = isScalarType(getNamedType(type)) ? '' : '{ id }';
      const field = passed === '' ? name : `${name}(${passed})`;
      const document = `mutation ${declared === '' ? '' : `(${declared})`} { ${field} ${selection} }`;
      return api.graphql(document, variables, staff);
    }

    async function idOf(noun: string): Promise<string> {
      const creation = mutations().find(({ name }) => name === `create${noun}`)!;
      const { body } = await run(creation);
      return body.data[creation.name].id;
    }

    it('adds one entry with its name, and none when it fails', async () => {
      await prepare(api, staff);
      for (const mutation of mutations()) {
        const { name, args } = mutation;
        const further = FURTHER[`mutation ${name}`];
        if (typeof further === 'string') continue;
        const reply = await (further ? further(api, staff) : run(mutation));
        expect([name, reply.body.errors]).toEqual([name, undefined]);
        const entries = await entriesOf(reply);
        expect(entries).toEqual([expect.objectContaining({ action: `mutation ${name}` })]);
        expect(entries[0].subject).toMatch(/^\/v\d\/.+\/\d+$/);

        const id = args.find(({ type }) => getNamedType(type).name === 'ID');
        const failed = await run(mutation, id ? { [id.name]: '99999999' } : { [args[0]!.name]: null });
        expect([name, failed.body.errors]).toEqual([name, expect.anything()]);
        expect([name, await entriesOf(failed)]).toEqual([name, []]);
      }
      expect(mutations()).not.toEqual([]);
    });
  });
});
