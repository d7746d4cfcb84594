import { beforeAll, expect, it } from '@jest/globals';
import { Changes } from '../src/platform/changes/index.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { settingsOf } from './support/stores.js';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

/** Statements that would remove entries less than a day old. */
const STATEMENTS = {
  SQLite: ['DELETE FROM audit_entries', 'DELETE FROM audit_entries WHERE id = 1'],
  PostgreSQL: [
    'DELETE FROM audit_entries',
    'DELETE FROM audit_entries WHERE id = 1',
    'TRUNCATE audit_entries',
  ],
};

const SETTINGS = { WRITE_ACCESS: 'authenticated' };
onEach('the audit log', { settings: SETTINGS, modules: [FixtureModule] }, ({ api, store }) => {
  let staff: Record<string, string>;
  let ada: Record<string, string>;
  let adaId: number;
  beforeAll(async () => {
    staff = await api.accounts.logInNewStaff();
    [ada, adaId] = await member('ada@example.com');
  });

  async function member(email: string): Promise<[headers: Record<string, string>, id: number]> {
    const { id } = await api.accounts.register(email);
    return [bearer((await api.accounts.login(email)).access), id];
  }

  const entries = async (query = ''): Promise<any[]> => {
    const reply = await api.get(`/v1/audit?limit=100&${query}`, staff);
    expect(reply).toHaveStatus(200);
    return reply.body.data;
  };

  /** The entries of an account that the work adds, oldest first. */
  async function logOf(account: number, work: () => Promise<unknown>): Promise<any[]> {
    const [last] = await entries();
    await work();
    return (await entries(`account_id=${account}`)).filter(({ id }) => id > last.id).toReversed();
  }

  function run(name: string, parameters: string[]) {
    return runCommand(name, parameters, { environment: settingsOf(api.config.store) });
  }

  const actions = (log: any[]) => log.map(({ action, subject }) => `${action} → ${subject}`);

  it('records who changed what, when and from where', async () => {
    const agent = { 'user-agent': 'Tester/1.0', 'x-forwarded-for': '198.51.100.7' };
    const before = Date.now();
    const reply = await api.post('/v1/dummies', { text: 'T' }, { ...ada, ...agent });

    const [entry] = await entries();
    expect(entry).toEqual({
      id: expect.any(Number),
      created_at: expect.any(String),
      account_id: adaId,
      action: 'POST /v1/dummies',
      subject: `/v1/dummies/${reply.body.data.id}`,
      address: '127.0.0.1',
      agent: 'Tester/1.0',
      request_id: reply.headers['x-request-id'],
    });
    expect(Date.parse(entry.created_at)).toBeGreaterThanOrEqual(before);
  });

  it('records each write over REST, with the changed resource', async () => {
    const { data: dummy } = (await api.post('/v1/dummies', { text: 'T' }, ada)).body;

    const log = await logOf(adaId, async () => {
      await api.patch(`/v1/dummies/${dummy.id}?x=y`, { text: 'U' }, ada);
      await api.put(`/v1/dummies/0${dummy.id}`, { text: 'V' }, ada);
      await api.delete(`/v1/dummies/${dummy.id}/`, ada);
      await api.post('/v1/stubs', { item: 'Tea' }, { ...ada, 'idempotency-key': 'audited' });
    });

    expect(actions(log)).toEqual([
      `PATCH /v1/dummies/:id → /v1/dummies/${dummy.id}`,
      `PUT /v1/dummies/:id → /v1/dummies/${dummy.id}`,
      `DELETE /v1/dummies/:id → /v1/dummies/${dummy.id}`,
      `POST /v1/stubs → /v1/stubs/1`,
    ]);
  });

  it('records each change of a mutation, and no query', async () => {
    const { data: dummy } = (await api.post('/v1/dummies', { text: 'T' }, ada)).body;
    const log = await logOf(adaId, async () => {
      await api.graphql('{ dummies { nodes { id } } }', {}, ada);
      await api.graphql(
        `mutation { a: updateDummy(id: "${dummy.id}", input: { text: "A" }) { id } createDummy(input: { text: "B" }) { id } }`,
        {},
        ada,
      );
      await api.graphql('mutation { updateDummy(id: "99999", input: { text: "A" }) { id } }', {}, ada);
    });

    expect(actions(log)).toEqual([
      `mutation updateDummy, createDummy → /v1/dummies/${dummy.id}`,
      `mutation updateDummy, createDummy → /v1/dummies/${dummy.id + 1}`,
    ]);
  });

  it('records the actions of an account on itself, also those that start anonymously', async () => {
    const [grace, id] = await member('grace@example.com');
    const [first] = (await entries(`account_id=${id}`)).toReversed();
    expect(actions([first])).toEqual([`POST /auth/register → /auth/accounts/${id}`]);

    const log = await logOf(id, async () => {
      const { refresh } = await api.accounts.login('grace@example.com');
      await api.post('/auth/refresh/', { refresh });
      await api.post('/auth/logout/', { refresh });
      const session = await api.accounts.session('grace@example.com');
      await api.patch('/auth/me/', { name: 'Grace' }, session.headers);
      await api.delete('/auth/session/', session.headers);
      const passwords = { old_password: PASSWORD, new_password: 'another horse' };
      await api.post('/auth/change-password/', passwords, grace);
      await api.delete('/auth/me/', grace);
      await api.delete('/auth/me/', grace, { password: 'another horse' });
    });

    expect(log.map(({ action }) => action)).toEqual([
      'POST /auth/login',
      'POST /auth/logout',
      'POST /auth/session',
      'PATCH /auth/me',
      'DELETE /auth/session',
      'POST /auth/change-password',
      'DELETE /auth/me',
    ]);
  });

  it('records no rejected, replayed or read-only request', async () => {
    const create = () => api.post('/v1/stubs', { item: 'Tea' }, { ...ada, 'idempotency-key': 'repeated' });
    await create();

    const log = await logOf(adaId, async () => {
      expect((await create()).headers['idempotent-replayed']).toBe('true');
      await api.post('/v1/dummies', { text: '' }, ada);
      await api.patch('/v1/dummies/99999', { text: 'T' }, ada);
      await api.patch('/v1/dummies/99999', { status: 'done' }, ada);
      await api.delete('/v1/dummies/99999', ada);
      await api.graphql('mutation { deleteDummy(id: 99999) }', {}, ada);
      await api.get('/v1/dummies', ada);
      await api.get('/auth/me/', ada);
      await api.post('/auth/change-password/', { old_password: 'wrong', new_password: 'another horse' }, ada);
    });

    expect(log).toEqual([]);
  });

  it('contains no secrets', async () => {
    const text = JSON.stringify(await entries());

    expect(text).not.toMatch(new RegExp(`${PASSWORD}|argon2|example\\.com|eyJ`));
  });

  it('commits together with the change, or not at all', async () => {
    const before = (await entries()).length;
    await api.rows.execute('ALTER TABLE audit_entries RENAME TO gone');
    const registration = { email: 'lost@example.com', name: 'Lost', password: PASSWORD };

    expect(await api.post('/auth/register/', registration)).toBeError('SERVICE_UNAVAILABLE');

    await api.rows.execute('ALTER TABLE gone RENAME TO audit_entries');
    expect(await entries()).toHaveLength(before);
    expect(await api.post('/auth/register/', registration)).toHaveStatus(201);
  });

  it.each([`subject = 'nothing'`, 'actor_id = NULL', `address = '203.0.113.9'`, `address = '', agent = 'x'`])(
    'rejects an UPDATE: %s',
    async (change) => {
      await expect(api.rows.execute(`UPDATE audit_entries SET ${change}`)).rejects.toThrow(
        'The audit log is append-only',
      );
    },
  );

  it.each(STATEMENTS[store])('rejects a deletion: %s', async (statement) => {
    await expect(api.rows.execute(statement)).rejects.toThrow('The audit log is append-only');
  });

  it('keeps the entries of a deleted account, without address and user agent', async () => {
    const agent = { 'user-agent': 'Secret Browser/1.0' };
    const [mallory, id] = await member('mallory@example.com');
    const dummy = await api.post('/v1/dummies', { text: 'T' }, { ...mallory, ...agent });
    expect((await entries(`account_id=${id}`))[0]).toMatchObject({
      address: '127.0.0.1',
      agent: 'Secret Browser/1.0',
    });

    const reply = await api.delete('/auth/me/', { ...mallory, ...agent }, { password: PASSWORD });
    expect(reply).toHaveStatus(204);

    const left = await entries(`account_id=${id}`);
    expect(actions(left.toReversed())).toEqual([
      `POST /auth/register → /auth/accounts/${id}`,
      'POST /auth/login → /auth/login',
      `POST /v1/dummies → /v1/dummies/${dummy.body.data.id}`,
      'DELETE /auth/me → /auth/me',
    ]);
    for (const entry of left) expect(entry).toMatchObject({ address: '', agent: '' });
    expect((await entries(`account_id=${adaId}`))[0]).toMatchObject({ address: '127.0.0.1' });
  });

  it('is readable by staff, page by page, and by account and subject', async () => {
    const all = await entries();

    const seen: any[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { body } = await api.get(`/v1/audit?limit=3&cursor=${encodeURIComponent(cursor)}`, staff);
      seen.push(...body.data);
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(all);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => b - a));
    expect(await entries(`account_id=${adaId}`)).toEqual(all.filter((entry) => entry.account_id === adaId));
    expect(await entries(`subject=${encodeURIComponent('/v1/stubs/1')}`)).toHaveLength(1);
    expect(await entries('account_id=nobody')).toEqual([]);
    expect(await entries('subject=%00')).toEqual([]);
  });

  it('records the account command, and is printed by the audit command', async () => {
    const { id } = await api.accounts.register('eve@example.com');
    await run('account', ['staff', 'eve@example.com']);
    await run('account', ['change-email', 'eve@example.com', 'eva@example.com']);
    await run('account', ['show', 'eva@example.com']);
    await run('account', ['staff', 'nobody@example.com']);
    await run('account', ['delete', 'eva@example.com', '--yes']);

    const { code, output } = await run('audit', ['--subject', `/auth/accounts/${id}`]);
    expect(code).toBe(0);
    const printed = output.trimEnd().split('\n');
    expect(printed.map((line) => JSON.parse(line))).toEqual(
      ['delete', 'change-email', 'staff']
        .map((name) =>
          expect.objectContaining({
            account_id: null,
            action: `command account ${name}`,
            subject: `/auth/accounts/${id}`,
            address: '',
            agent: expect.stringMatching(/^user \S+$/),
          }),
        )
        .concat(expect.objectContaining({ account_id: id, action: 'POST /auth/register', address: '' })),
    );
    expect(await run('audit', ['--before', '0'])).toMatchObject({ code: 1 });
    const { output: first } = await run('audit', ['--limit', '1']);
    const { output: second } = await run('audit', ['--limit', '1', '--before', `${JSON.parse(first).id}`]);
    expect(JSON.parse(second).id).toBeLessThan(JSON.parse(first).id);
    expect(await entries()).toEqual((await entries()).filter(({ subject }) => subject !== ''));
  });

  it('names the account whose password a command sets', async () => {
    const command = await startApi(store);
    const { id } = await command.accounts.register('iris@example.com');
    command.app.get(Changes).recordAsCommand('account reset-password', 'user root');
    await command.accounts.setPassword('iris@example.com', 'another password');

    const sql = 'SELECT action, subject FROM audit_entries WHERE actor_id IS NULL';
    expect(await command.rows.all(sql)).toEqual([
      { action: 'command account reset-password', subject: `/auth/accounts/${id}` },
    ]);
    await command.stop();
  });

  it('keeps entries for the retention period', async () => {
    const purger = api.app.get(Purger);
    api.moveClock(-366 * DAY);
    const { id } = await api.accounts.register('old@example.com');
    api.moveClock(-364 * DAY);
    await api.accounts.login('old@example.com');
    api.moveClock(0);

    expect((await purger.purge()).get('audit_entries')).toBe(1);
    expect(actions(await entries(`account_id=${id}`))).toEqual(['POST /auth/login → /auth/login']);
    expect((await purger.purge()).get('audit_entries')).toBe(0);
  });

  it('lets the purge delete day-old entries when the clock is half an hour ahead', async () => {
    const shortest = await startApi(store, { AUDIT_RETENTION_DAYS: '1' });
    shortest.moveClock(HOUR / 2 - DAY);
    await shortest.accounts.register('old@example.com');
    shortest.moveClock(HOUR / 2);
    await shortest.accounts.register('new@example.com');

    expect((await shortest.app.get(Purger).purge()).get('audit_entries')).toBe(1);
    await shortest.stop();
  });
});

onEach('the audit log with WRITE_ACCESS=open', { modules: [FixtureModule] }, ({ api }) => {
  it('records no writes for which the service did not check credentials', async () => {
    const staff = await api.accounts.logInNewStaff();

    await api.post('/v1/dummies', { text: 'T' });
    await api.post('/v1/dummies', { text: 'T' }, staff);

    const { data } = (await api.get('/v1/audit', staff)).body;
    expect(data.map(({ action }: any) => action)).toEqual(['POST /auth/login', 'POST /auth/register']);
  });
});
