import { expect, it } from '@jest/globals';
import { bearer, PASSWORD, sessionOf } from './support/accounts.js';
import { onEach } from './support/on-each.js';
import { until } from './support/until.js';

const DAY = 24 * 3600 * 1000;

const sidOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sid as string;

onEach('the logins of an account', { settings: { TRUST_PROXY: '127.0.0.1' } }, ({ api }) => {
  const list = async (headers: Record<string, string>): Promise<any[]> =>
    (await api.get('/auth/sessions/', headers)).body.data;
  const end = (id: string, headers: Record<string, string>) => api.delete(`/auth/sessions/${id}/`, headers);

  it('are listed newest first, for cookies and tokens, with address and user agent', async () => {
    await api.accounts.register('ada@example.com');
    const tokens = await api.accounts.login('ada@example.com');
    api.moveClock(1000);
    const reply = await api.post(
      '/auth/session/',
      { email: 'ada@example.com', password: PASSWORD },
      { 'user-agent': 'Firefox' },
    );
    const { cookie, headers } = sessionOf(reply);

    const data = await list(cookie);

    expect(data).toEqual([
      {
        id: cookie.cookie.split(/[=.]/)[1],
        kind: 'cookie',
        created_at: expect.laterThan(data[1].created_at),
        last_used_at: data[0].created_at,
        address: '127.0.0.1',
        agent: 'Firefox',
        current: true,
      },
      expect.objectContaining({ id: sidOf(tokens.access), kind: 'token', current: false }),
    ]);
    expect((await list(bearer(tokens.access))).map(({ current }) => current)).toEqual([false, true]);
    expect(JSON.stringify(data)).not.toContain(headers.cookie.split('.')[1]);
    expect((await api.get('/auth/sessions/', cookie)).headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['UTF-8', Buffer.from('Läufer 🏃/1 (Zürich)').toString('latin1'), 'Läufer 🏃/1 (Zürich)'],
    ['Latin-1', 'Läufer/1', 'Läufer/1'],
    [
      'UTF-8, cut in a character',
      Buffer.from(`${'a'.repeat(199)}🏃`).toString('latin1'),
      `${'a'.repeat(199)}\ufffd`,
    ],
  ])('name the program in %s', async (name, header, agent) => {
    const email = `${name.length}@example.com`;
    await api.accounts.register(email);
    const { access } = await api.accounts.login(email);
    const options = { email, password: PASSWORD };
    expect(await api.post('/auth/login/', options, { 'user-agent': header })).toHaveStatus(200);

    expect((await list(bearer(access))).map((login) => login.agent)).toContain(agent);
  });

  it('show where they were used last, by a cookie and by a refresh', async () => {
    const email = 'device@example.com';
    const from = (address: string, agent: string) => ({ 'x-forwarded-for': address, 'user-agent': agent });
    await api.accounts.register(email);
    const before = from('192.0.2.1', 'Before');
    const body = { email, password: PASSWORD };
    const { cookie } = sessionOf(await api.post('/auth/session/', body, before));
    const { refresh } = (await api.post('/auth/login/', body, before)).body;
    const shown = async () =>
      (await list(cookie)).map(({ kind, address, agent }) => ({ kind, address, agent }));
    expect(new Set((await shown()).map(({ agent }) => agent))).toEqual(new Set(['Before']));

    // A use by the cookie is recorded once a minute.
    api.moveClock(61_000);
    expect(await api.get('/auth/session/', { ...cookie, ...from('192.0.2.2', 'Cookie') })).toHaveStatus(200);
    expect(await api.post('/auth/refresh/', { refresh }, from('192.0.2.3', 'Token'))).toHaveStatus(200);

    const expected = [
      { kind: 'cookie', address: '192.0.2.2', agent: 'Cookie' },
      { kind: 'token', address: '192.0.2.3', agent: 'Token' },
    ];
    await until('the use of the cookie is recorded', async () => (await shown())[1]!.agent !== 'Before');
    expect((await shown()).toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual(expected);
  });

  it('end one by one, at once', async () => {
    await api.accounts.register('bob@example.com');
    const [first, second] = [
      await api.accounts.session('bob@example.com'),
      await api.accounts.session('bob@example.com'),
    ];
    const tokens = await api.accounts.login('bob@example.com');

    expect(await end(first.cookie.cookie.split(/[=.]/)[1]!, second.headers)).toHaveStatus(204);
    expect(await end(sidOf(tokens.access), second.headers)).toHaveStatus(204);

    expect(await api.get('/auth/me/', first.cookie)).toBeError('UNAUTHENTICATED');
    expect(await api.post('/auth/refresh/', { refresh: tokens.refresh })).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/verify/', { token: tokens.refresh })).toBeError('TOKEN_NOT_VALID');
    expect(await api.get('/auth/me/', bearer(tokens.access))).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/verify/', { token: tokens.access })).toBeError('TOKEN_NOT_VALID');
    expect(await list(second.cookie)).toHaveLength(1);
  });

  it('can end themselves', async () => {
    await api.accounts.register('self@example.com');
    const session = await api.accounts.session('self@example.com');

    expect(await end((await list(session.cookie))[0].id, session.headers)).toHaveStatus(204);
    expect(await api.get('/auth/sessions/', session.cookie)).toBeError('UNAUTHENTICATED');
  });

  it('are hidden from other accounts, which cannot end them', async () => {
    await api.accounts.register('eve@example.com');
    await api.accounts.register('victim@example.com');
    const eve = await api.accounts.session('eve@example.com');
    const victim = await api.accounts.session('victim@example.com');
    const [{ id }] = (await list(victim.cookie)) as [{ id: string }];

    expect(await list(eve.cookie)).toHaveLength(1);
    for (const unknown of [id, 'unknown', '%00', '%ff', "' OR 1=1 --", 'x'.repeat(500), id.toUpperCase()]) {
      expect(await end(encodeURIComponent(unknown), eve.headers)).toBeError('NOT_FOUND');
    }
    expect(await end('%00', eve.headers)).toBeError('NOT_FOUND');
    expect(await list(victim.cookie)).toHaveLength(1);
  });

  it('are not listed after they have ended or expired', async () => {
    await api.accounts.register('late@example.com');
    const old = await api.accounts.login('late@example.com');
    const out = await api.accounts.session('late@example.com');
    await api.delete('/auth/session/', out.headers);
    api.moveClock(8 * DAY);
    const session = await api.accounts.session('late@example.com');

    expect((await list(session.cookie)).map(({ kind }) => kind)).toEqual(['cookie']);
    expect(await end(sidOf(old.access), session.headers)).toBeError('NOT_FOUND');
  });
});
