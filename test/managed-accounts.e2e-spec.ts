import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, expect, it, jest } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Account } from '../src/accounts/account.entity.js';
import { SecurityEvents } from '../src/platform/http/security-events.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { turnOnFactor } from './support/second-factor.js';
import { statementsOf } from './support/statements.js';
import { untilBlocked } from './support/until-blocked.js';

const PUBLIC_URL = 'https://api.example.com';
const OLD = 6 * 60_000;
const DAY = 24 * 60 * 60_000;

type Headers = Record<string, string>;

onEach('accounts for staff', { settings: { PUBLIC_URL }, servers: MAILS }, ({ api, mails, store }) => {
  let root: Headers;
  let staff: Headers;
  let user: Headers;
  beforeAll(async () => {
    [root, staff, user] = [
      (await person('root', { isStaff: true, isSuperuser: true })).headers,
      (await person('staff', { isStaff: true })).headers,
      (await person('user')).headers,
    ];
  });

  /** A new account with a verified e-mail, and a login. */
  const person = async (name: string, rights: Partial<Account> = {}) => {
    const email = `${name}@example.com`;
    const { id } = await api.accounts.register(email, { name });
    const repository = api.app.get<Repository<Account>>(getRepositoryToken(Account), { strict: false });
    await repository.update({ id }, { isEmailVerified: true, ...rights });
    return { id: id as number, email, headers: bearer((await api.accounts.login(email)).access) };
  };
  const change = (id: number | string, body: object, headers: Headers) =>
    api.patch(`/auth/accounts/${id}/`, body, headers);
  const endSessions = (id: number | string, headers: Headers) =>
    api.delete(`/auth/accounts/${id}/sessions/`, headers);
  const reset = (id: number | string, headers: Headers, body: object = {}) =>
    api.post(`/auth/accounts/${id}/reset-mfa/`, body, headers);
  const read = async (id: number) => (await api.get(`/auth/accounts/${id}/`, root)).body;
  const isLoggedIn = async (headers: Headers) => (await api.get('/auth/me/', headers)).status === 200;
  const entriesOf = async ({ headers }: Reply): Promise<any[]> => {
    const { data } = (await api.get('/v1/audit?limit=100', root)).body;
    return data.filter((entry: any) => entry.request_id === headers['x-request-id']);
  };
  const emails = async (query: string) =>
    (await api.get(`/auth/accounts/?${query}`, staff)).body.data.map(({ email }: any) => email);

  it('are listed newest first, by page', async () => {
    const [first, second] = [await person('list1'), await person('list2')];
    const page = await api.get('/auth/accounts/?limit=2', staff);

    expect(page).toHaveStatus(200);
    expect(page.headers['link']).toContain('rel="next"');
    expect(page.headers['cache-control']).toContain('no-store');
    const { data, meta } = page.body;
    expect(data.map(({ id }: any) => id)).toEqual([second.id, first.id]);
    const me = (await api.get('/auth/me/', second.headers)).body;
    expect(data[0]).toEqual(me);
    expect(meta).toEqual({ total: expect.any(Number), page: 1, limit: 2, has_next: true });
    const beyond = (await api.get('/auth/accounts/?page=1000000', staff)).body;
    expect(beyond).toMatchObject({ data: [], meta: { total: meta.total, has_next: false } });
    expect((await api.get('/auth/accounts/?limit=101&page=0', staff)).body.meta).toMatchObject({
      page: 1,
      limit: 20,
    });
  });

  it('are found by a part of the e-mail or the name, in any letter case', async () => {
    await api.accounts.register('Greta.Garbo@example.com', { name: 'Straßenfest Ähre' });
    await api.accounts.register('percent@example.com', { name: '100 % of_it' });

    for (const q of ['GARBO', 'garbo@EXAMPLE', 'STRASSENFEST', 'straßen', 'ähre', 'ÄHRE'])
      expect([q, await emails(`q=${encodeURIComponent(q)}`)]).toEqual([q, ['Greta.Garbo@example.com']]);
    expect(await emails(`q=${encodeURIComponent('0 %')}`)).toEqual(['percent@example.com']);
    expect(await emails('q=f_i')).toEqual(['percent@example.com']);
    expect(await emails('q=f-i')).toEqual([]);
    expect(await emails('q=%00')).toEqual([]);
    expect(await emails('q=nobody-at-all')).toEqual([]);
    expect(await emails('q=&limit=1')).toHaveLength(1);

    const sent = await statementsOf(() => emails('q=garbo'));
    const searches = sent.filter((sql) => /FROM accounts WHERE .*replace/.test(sql));
    expect(searches.length).toBeGreaterThan(1);
    // PostgreSQL has a setting for it.
    const deadline = store === 'SQLite' ? 'within_deadline()' : 'TRUE';
    for (const sql of searches) expect(sql).toContain(`WHERE ${deadline} AND`);

    await api.patch('/auth/me/', { name: 'Renamed Ölberg' }, user);
    expect(await emails(`q=${encodeURIComponent('ÖLBERG')}`)).toEqual(['user@example.com']);
  });

  it('are found by their rights; any other value counts as absent', async () => {
    const off = await person('switched-off');
    expect(await change(off.id, { is_active: false }, root)).toHaveStatus(200);
    const all = (await api.get('/auth/accounts/', staff)).body.meta.total;

    expect(await emails('is_active=false')).toEqual([off.email]);
    expect(await emails('is_staff=true&q=root')).toEqual(['root@example.com']);
    expect(await emails('is_staff=false&q=root')).toEqual([]);
    expect(await emails('is_active=true&q=switched')).toEqual([]);
    for (const value of ['', 'TRUE', '1', 'x'])
      expect((await api.get(`/auth/accounts/?is_active=${value}`, staff)).body.meta.total).toBe(all);
  });

  it('have their last login, logins, second factor and passkeys', async () => {
    const { id: former } = await api.accounts.register('before-details@example.com');
    const { id } = await api.accounts.register('details@example.com');
    const { id: later } = await api.accounts.register('after-details@example.com');
    const nothing = { last_login_at: null, logins: 0, totp: false, passkeys: 0 };
    const me = { id, email: 'details@example.com', role: 'user', is_active: true };
    expect(await read(id)).toMatchObject({ ...me, ...nothing });

    api.moveClock(-8 * DAY);
    await api.accounts.login('details@example.com');
    api.moveClock(0);
    expect(await read(id)).toMatchObject({ logins: 0 });
    const before = Date.now() - 1000;
    const headers = bearer((await api.accounts.login('details@example.com')).access);
    await api.accounts.session('details@example.com');
    expect(await read(id)).toMatchObject({ logins: 2 });
    await addPasskey(headers);
    // Ends the other logins.
    await turnOnFactor(api, headers);

    const details = await read(id);
    expect(details).toMatchObject({ logins: 1, totp: true, passkeys: 1 });
    expect(Date.parse(details.last_login_at)).toBeGreaterThan(before);
    for (const other of [former, later]) expect(await read(other)).toMatchObject(nothing);
    expect(Object.keys(details)).toEqual([
      ...Object.keys((await api.get('/auth/me/', headers)).body),
      ...Object.keys(nothing),
    ]);
  });

  const addPasskey = async (headers: Headers): Promise<void> => {
    const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
    const response = new Authenticator(PUBLIC_URL).create(options);
    expect(await api.post('/auth/passkeys/', { response, name: 'A' }, headers)).toHaveStatus(201);
  };

  it('may be seen by staff, and changed by superusers', async () => {
    const { id } = await person('target');
    expect(await change(id, { is_active: false }, staff)).toBeError('FORBIDDEN');
    expect(await reset(id, staff)).toBeError('FORBIDDEN');
    expect(await read(id)).toMatchObject({ is_active: true, logins: 1 });
  });

  it('are checked in order: caller, id, body, account, recent login, conflict', async () => {
    const { id: own } = (await api.get('/auth/me/', root)).body;
    const bad = { is_active: 'no' };

    expect(await change('x', bad, staff)).toBeError('FORBIDDEN');
    expect(await change('x', bad, root)).toBeError('INVALID_ID');
    expect(await change(999_999, bad, root)).toBeError('VALIDATION_ERROR', ['is_active']);
    expect(await change(own, { is_staff: 1 }, root)).toBeError('VALIDATION_ERROR', ['is_staff']);
    for (const id of [999_999, '9223372036854775807', 0, -1]) {
      expect(await api.get(`/auth/accounts/${id}/`, staff)).toBeError('NOT_FOUND');
      expect(await endSessions(id, staff)).toBeError('NOT_FOUND');
    }
    api.moveClock(OLD);
    expect(await change(999_999, { is_active: false }, root)).toBeError('NOT_FOUND');
    expect(await reset(999_999, root)).toBeError('NOT_FOUND');
    expect(await change(own, { is_active: false }, root)).toBeError('FORBIDDEN');
    expect(await reset(own, root)).toBeError('FORBIDDEN');
    const wrong = await change(own, { is_active: false, password: 'wrong' }, root);
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await change(own, { is_active: false, password: PASSWORD }, root)).toBeError('CONFLICT');
    expect(await reset(own, root, { password: PASSWORD })).toBeError('CONFLICT');
  });

  it('are deactivated at once, with an entry and a notice', async () => {
    const { id, email, headers } = await person('leaver');
    const { key } = (await api.post('/auth/api-keys/', { name: 'K', scope: 'read' }, headers)).body.data;
    const reply = await change(id, { is_active: false }, root);

    expect(reply).toHaveStatus(200);
    expect(reply.body).toMatchObject({ id, is_active: false, is_staff: false });
    expect(await isLoggedIn(headers)).toBe(false);
    expect(await isLoggedIn(bearer(key))).toBe(false);
    expect(await api.post('/auth/login/', { email, password: PASSWORD })).toBeError('UNAUTHENTICATED');
    const [entry, ...more] = await entriesOf(reply);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ subject: `/auth/accounts/${id}`, action: 'PATCH /auth/accounts/:id' });
    await mails.nextWith(email, 'Your account was deactivated');

    expect((await change(id, { is_active: true }, root)).body.is_active).toBe(true);
    await api.accounts.login(email);
  });

  it('become staff and lose that; their logins end with each change', async () => {
    const { id, email, headers } = await person('colleague');

    expect((await change(id, { is_staff: true }, root)).body).toMatchObject({
      is_staff: true,
      role: 'admin',
    });
    expect(await isLoggedIn(headers)).toBe(false);
    await mails.nextWith(email, 'The rights of your account were changed');
    const next = bearer((await api.accounts.login(email)).access);
    expect(await api.get('/auth/accounts/', next)).toHaveStatus(200);
    expect((await change(id, { is_staff: false }, root)).body.role).toBe('user');
    expect(await isLoggedIn(next)).toBe(false);
  });

  it('stay as they are without a change: no entry, and the logins go on', async () => {
    const { id, headers } = await person('same');
    api.moveClock(OLD);
    for (const body of [{}, { is_active: null, is_staff: null }]) {
      const reply = await change(id, body, root);
      expect(reply).toHaveStatus(200);
      expect(await entriesOf(reply)).toEqual([]);
    }
    api.moveClock(0);
    const reply = await change(id, { is_active: true, is_staff: false }, root);
    expect(reply.body).toMatchObject({ id, is_active: true, is_staff: false });
    expect(await entriesOf(reply)).toEqual([]);
    expect(await isLoggedIn(headers)).toBe(true);
  });

  it('are logged out by staff; superusers only by superusers', async () => {
    const { id, headers } = await person('everywhere');
    await api.accounts.session('everywhere@example.com');
    expect((await read(id)).logins).toBe(2);

    const reply = await endSessions(id, staff);
    expect(reply).toHaveStatus(204);
    expect(await isLoggedIn(headers)).toBe(false);
    expect((await read(id)).logins).toBe(0);
    expect(await entriesOf(reply)).toMatchObject([
      { subject: `/auth/accounts/${id}`, action: 'DELETE /auth/accounts/:id/sessions' },
    ]);

    const other = await person('other-root', { isStaff: true, isSuperuser: true });
    expect(await endSessions(other.id, staff)).toBeError('FORBIDDEN');
    expect(await isLoggedIn(other.headers)).toBe(true);
    expect(await endSessions(other.id, root)).toHaveStatus(204);
    expect(await isLoggedIn(other.headers)).toBe(false);
  });

  it('lose their second factor and passkeys, and their logins', async () => {
    const { id, email, headers } = await person('lost-phone', { isOwnerConfirmed: true });
    await addPasskey(headers);
    await turnOnFactor(api, headers);
    expect(await read(id)).toMatchObject({ totp: true, passkeys: 1 });

    const reply = await reset(id, root);
    expect(reply).toHaveStatus(204);
    expect(await read(id)).toMatchObject({ totp: false, passkeys: 0, logins: 0 });
    expect(await isLoggedIn(headers)).toBe(false);
    expect(await entriesOf(reply)).toHaveLength(1);
    await mails.nextWith(email, 'Two-step login is off');
    expect((await api.post('/auth/login/', { email, password: PASSWORD })).body).toHaveProperty('access');
  });

  it('are security events, unless they are rolled back', async () => {
    const { id, headers } = await person('watched');
    await addPasskey(headers);
    await turnOnFactor(api, headers);
    const record = jest.spyOn(api.app.get(SecurityEvents, { strict: false }), 'record');
    await api.rows.execute('ALTER TABLE audit_entries RENAME TO gone');
    expect(await change(id, { is_staff: true }, root)).toBeError('SERVICE_UNAVAILABLE');
    await api.rows.execute('ALTER TABLE gone RENAME TO audit_entries');
    expect(record).not.toHaveBeenCalled();
    await change(id, { is_staff: true }, root);
    await endSessions(id, staff);
    await reset(id, root);
    await change(id, {}, root);

    const subject = { accountId: id };
    expect(record.mock.calls).toEqual([
      ['account_changed', subject],
      ['logins_ended', subject],
      ['factor_changed', { ...subject, reason: 'reset by staff' }],
      ['passkey_changed', { ...subject, reason: 'removed' }],
      ['account_changed', { ...subject, reason: 'second factor reset' }],
    ]);
    record.mockRestore();
  });

  it('are never superusers without rights, and one’s own stays active', async () => {
    const { id: own } = (await api.get('/auth/me/', root)).body;
    const other = await person('second-root', { isStaff: true, isSuperuser: true });

    expect(await change(other.id, { is_staff: false }, root)).toBeError('CONFLICT');
    expect(await change(own, { is_active: false }, root)).toBeError('CONFLICT');
    expect(await change(other.id, { is_active: false, is_staff: false }, root)).toBeError('CONFLICT');
    expect(await read(other.id)).toMatchObject({ is_active: true, is_staff: true });
    expect(await change(other.id, { is_active: false }, root)).toHaveStatus(200);
    expect(await read(own)).toMatchObject({ is_active: true });
  });
});

onEach('the last superuser', {}, ({ api, store }) => {
  const superusers = () => api.app.get<Repository<Account>>(getRepositoryToken(Account), { strict: false });
  let count = 0;
  /** Two new superusers, and no other one. */
  const createTwo = async () => {
    await superusers().update({ isSuperuser: true }, { isSuperuser: false, isStaff: false });
    const create = async () => {
      const email = `root${++count}@example.com`;
      const { id } = await api.accounts.register(email);
      await superusers().update({ id }, { isStaff: true, isSuperuser: true });
      return { id: id as number, headers: bearer((await api.accounts.login(email)).access) };
    };
    return [await create(), await create()] as const;
  };
  type Root = Awaited<ReturnType<typeof createTwo>>[number];
  const deactivate = ({ id }: Root, by: Root) =>
    api.patch(`/auth/accounts/${id}/`, { is_active: false }, by.headers);
  const deleteSelf = ({ headers }: Root) => api.delete('/auth/me/', headers, { password: PASSWORD });
  const activeIds = async () =>
    (await superusers().findBy({ isSuperuser: true, isActive: true })).map(({ id }) => id);

  it('cannot delete itself, unless there is another active one', async () => {
    const [first, second] = await createTwo();
    expect(await deactivate(second, first)).toHaveStatus(200);

    expect(await deleteSelf(first)).toBeError('CONFLICT');
    expect(await activeIds()).toEqual([first.id]);
    await superusers().update({ id: second.id }, { isActive: true });
    expect(await deleteSelf(first)).toHaveStatus(204);
    expect(await activeIds()).toEqual([second.id]);
  });

  it.each<[string, (a: Root, b: Root) => Promise<Reply>[]]>([
    ['two deactivate each other', (a, b) => [deactivate(b, a), deactivate(a, b)]],
    ['two delete themselves', (a, b) => [deleteSelf(a), deleteSelf(b)]],
    ['one deactivates the other, which deletes itself', (a, b) => [deactivate(b, a), deleteSelf(b)]],
    ['one deactivates the other and deletes itself', (a, b) => [deactivate(b, a), deleteSelf(a)]],
  ])('stays active when at the same time %s', async (_, act) => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = await createTwo();

      for (const { status } of await Promise.all(act(a, b))) expect(status).toBeLessThan(500);

      expect(await activeIds()).toHaveLength(1);
    }
  });

  it.each<[string, (a: Root, b: Root) => Promise<Reply>, number]>([
    ['a deactivation', (a, b) => deactivate(b, a), 200],
    ['a deletion', (_, b) => deleteSelf(b), 204],
  ])('is found by %s before it locks the account, so that none deadlock', async (_, act, status) => {
    const [a, b] = await createTwo();
    const lock = (id: number) =>
      api.rows.execute(`SELECT id FROM accounts WHERE id = ${id} ${store === 'SQLite' ? '' : 'FOR UPDATE'}`);
    const outside = AsyncLocalStorage.snapshot();
    let reply!: Promise<Reply>;

    await api.rows.run(async () => {
      await lock(a.id);
      reply = outside(() => act(a, b));
      await outside(() => untilBlocked(api, store));
      // Before PostgreSQL looks for deadlocks, after a second: the service would repeat its transaction.
      if (store === 'PostgreSQL') await api.rows.execute('SET LOCAL lock_timeout = 500');
      await lock(b.id);
    });

    expect(await reply).toHaveStatus(status);
  });
});
