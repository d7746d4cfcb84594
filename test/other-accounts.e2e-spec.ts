import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Passkey } from '../src/accounts/passkey/passkey.entity.js';
import { SocialIdentity } from '../src/accounts/social/social-identity.entity.js';
import { bearer, PASSWORD, type Tokens } from './support/accounts.js';
import { created, type Reply } from './support/api.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { turnOnFactor } from './support/second-factor.js';

const TABLES = [
  'accounts',
  'sessions',
  'one_time_secrets',
  'social_identities',
  'totp_factors',
  'passkeys',
  'api_keys',
];

/** Of an account with three of each. */
interface Person {
  readonly id: number;
  readonly email: string;
  readonly tokens: readonly Tokens[];
  /** The headers of the middle login. */
  readonly headers: Record<string, string>;
  readonly ids: Record<'sessions' | 'keys' | 'passkeys' | 'identities', readonly (number | string)[]>;
}

/** The number of rows of each table that a call changes, adds or deletes. */
type Changed = Record<string, number>;

onEach('of three accounts with three rows each,', { servers: MAILS }, ({ api, mails }) => {
  let root: Record<string, string>;
  let people: readonly [Person, Person, Person];
  let tests = 0;
  beforeAll(async () => {
    root = await api.accounts.logInNewSuperuser();
  });
  beforeEach(async () => {
    tests++;
    await api.rows.execute('DELETE FROM counters');
    people = [await person('first'), await person('middle'), await person('last')];
  });

  const repository = <Row extends object>(entity: new () => Row) =>
    api.app.get<Repository<Row>>(getRepositoryToken(entity), { strict: false });

  async function person(name: string): Promise<Person> {
    const email = `${name}${tests}@example.com`;
    const { id } = await api.accounts.register(email);
    await api.accounts.admin().verifyEmail(email);
    const tokens = [];
    for (let n = 0; n < 3; n++) tokens.push(await api.accounts.login(email));
    const headers = bearer(tokens[1]!.access);
    for (let n = 0; n < 3; n++) {
      created(await api.post('/auth/api-keys/', { name: `Key ${n}`, scope: 'read' }, headers));
      const row = { accountId: id, createdAt: new Date() };
      const credentialId = `${id}-${n}`;
      const device = { credentialId, publicKey: '', counter: 0, transports: '[]', name: `Device ${n}` };
      await repository(Passkey).save({ ...row, ...device });
      await repository(SocialIdentity).save({ ...row, provider: 'github', subject: credentialId });
    }
    const idsOf = async (path: string) =>
      (await api.get(path, headers)).body.data.map(({ id: one }: any) => one);
    const ids = {
      sessions: await idsOf('/auth/sessions/'),
      keys: await idsOf('/auth/api-keys/'),
      passkeys: await idsOf('/auth/passkeys/'),
      identities: await idsOf('/auth/identities/'),
    };
    return { id, email, tokens, headers, ids };
  }

  /** All rows, as text, by table and account. */
  async function stored(): Promise<Map<string, Set<string>>> {
    const rows = new Map<string, Set<string>>();
    for (const table of TABLES)
      for (const row of await api.rows.all<any>(`SELECT * FROM ${table}`)) {
        const name = `${table} of ${row.account_id ?? row.id}`;
        rows.set(name, (rows.get(name) ?? new Set()).add(JSON.stringify(row)));
      }
    return rows;
  }

  /** Changes the middle account. @returns what has changed of it, and of the others */
  async function changedBy(
    call: (middle: Person) => Promise<unknown>,
  ): Promise<{ own: Changed; others: Changed }> {
    const before = await stored();
    await call(people[1]);
    const after = await stored();
    const changedOf = ({ id }: Person): Changed =>
      Object.fromEntries(
        TABLES.flatMap((table) => {
          const [old, now] = [before, after].map(
            (rows) => rows.get(`${table} of ${id}`) ?? new Set<string>(),
          );
          const without = (some: Set<string>, others: Set<string>) =>
            [...some].filter((row) => !others.has(row)).length;
          const changed = Math.max(without(old!, now!), without(now!, old!));
          return changed === 0 ? [] : [[table, changed]];
        }),
      );
    return { own: changedOf(people[1]), others: { ...changedOf(people[0]), ...changedOf(people[2]) } };
  }

  const ALL = { accounts: 1, sessions: 3, social_identities: 3, passkeys: 3, api_keys: 3 };
  const one = (path: string, ids: (person: Person) => readonly (number | string)[]) => (middle: Person) =>
    api.delete(`${path}${ids(middle)[1]!}/`, middle.headers);
  const linkIn = async ({ email }: Person, subject: string) => tokenIn(await mails.nextWith(email, subject));

  const CALLS: readonly (readonly [what: string, changed: Changed, (middle: Person) => Promise<Reply>])[] = [
    [
      'a login',
      { accounts: 1, sessions: 1 },
      ({ email }) => api.post('/auth/login/', { email, password: PASSWORD }),
    ],
    [
      'a refresh',
      { sessions: 1 },
      ({ tokens }) => api.post('/auth/refresh/', { refresh: tokens[1]!.refresh }),
    ],
    ['a logout', { sessions: 1 }, ({ tokens }) => api.post('/auth/logout/', { refresh: tokens[1]!.refresh })],
    ['the end of a login', { sessions: 1 }, one('/auth/sessions/', ({ ids }) => ids.sessions)],
    ['the end of other logins', { sessions: 2 }, ({ headers }) => api.delete('/auth/sessions/', headers)],
    ['a deleted API key', { api_keys: 1 }, one('/auth/api-keys/', ({ ids }) => ids.keys)],
    ['a deleted passkey', { passkeys: 1 }, one('/auth/passkeys/', ({ ids }) => ids.passkeys)],
    ['a deleted identity', { social_identities: 1 }, one('/auth/identities/', ({ ids }) => ids.identities)],
    ['a change of name', { accounts: 1 }, ({ headers }) => api.patch('/auth/me/', { name: 'B' }, headers)],
    [
      'a change of password',
      { accounts: 1, sessions: 3 },
      ({ headers }) =>
        api.post(
          '/auth/change-password/',
          { old_password: PASSWORD, new_password: 'another password' },
          headers,
        ),
    ],
    [
      'a reset',
      { accounts: 1, sessions: 3, api_keys: 3 },
      async (middle) => {
        await api.post('/auth/password/reset/', { email: middle.email });
        const token = await linkIn(middle, 'Reset your password');
        return api.post('/auth/password/reset/confirm/', { token, new_password: 'another password' });
      },
    ],
    [
      'a change of address',
      { accounts: 1, sessions: 1 },
      async ({ headers }) => {
        const new_email = `new${tests}@example.com`;
        await api.post('/auth/email/change/', { new_email, password: PASSWORD }, headers);
        const token = tokenIn(await mails.nextWith(new_email, 'Confirm your new e-mail address'));
        return api.post('/auth/email/change/confirm/', { token });
      },
    ],
    [
      'a waiting second factor',
      { totp_factors: 1 },
      ({ headers }) => api.post('/auth/mfa/totp/', {}, headers),
    ],
    ['a deletion', ALL, ({ headers }) => api.delete('/auth/me/', headers, { password: PASSWORD })],
    [
      'a deactivation',
      { accounts: 1, sessions: 3, api_keys: 3 },
      ({ id }) => api.patch(`/auth/accounts/${id}/`, { is_active: false }, root),
    ],
    [
      'other rights',
      { accounts: 1, sessions: 3 },
      ({ id }) => api.patch(`/auth/accounts/${id}/`, { is_staff: true }, root),
    ],
    [
      'the end of all logins',
      { sessions: 3 },
      ({ id }) => api.delete(`/auth/accounts/${id}/sessions/`, root),
    ],
    [
      'a reset of the second factor',
      { sessions: 3, passkeys: 3 },
      ({ id }) => api.post(`/auth/accounts/${id}/reset-mfa/`, {}, root),
    ],
  ];

  it.each(CALLS)('%s changes those of the middle one: %j', async (_, changed, call) => {
    let reply: Reply | undefined;
    const found = await changedBy(async (middle) => {
      reply = await call(middle);
    });

    expect(reply!.status).toBeLessThan(300);
    expect(found).toEqual({ own: changed, others: {} });
  });

  it('a second factor that is turned on, and a way of its owner, change those of the middle one', async () => {
    const others = await changedBy(({ headers }) => turnOnFactor(api, headers));

    expect(others).toEqual({
      own: { accounts: 1, sessions: 2, totp_factors: 1, one_time_secrets: 10 },
      others: {},
    });
  });

  const admin = () => api.accounts.admin();
  it.each<readonly [what: string, changed: Changed, (middle: Person) => Promise<unknown>]>([
    [
      'a deactivation',
      { accounts: 1, sessions: 3, api_keys: 3 },
      ({ email }) => admin().setActive(email, false),
    ],
    ['other rights', { accounts: 1, sessions: 3 }, ({ email }) => admin().setStaff(email, true)],
    [
      'another address',
      { accounts: 1 },
      ({ email }) => admin().changeEmail(email, `moved${tests}@example.com`),
    ],
    [
      'a password',
      { accounts: 1, sessions: 3, api_keys: 3 },
      ({ email }) => api.accounts.setPassword(email, 'another password'),
    ],
    ['a deletion', ALL, ({ email }) => admin().delete(email)],
  ])('%s by an operator changes those of the middle one: %j', async (_, changed, call) => {
    expect(await changedBy(call)).toEqual({ own: changed, others: {} });
  });
});
