import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { MailQueue, MailSender } from '../src/platform/mail/index.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { times } from './support/concurrent.js';
import { linkIn, MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { turnOnFactor } from './support/second-factor.js';
import { until } from './support/until.js';

const HOUR = 3600_000;

/** After it, another mail may be sent to an address. */
const MINUTE = 61_000;

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).toSorted((a, b) => a - b);

const SETTINGS = { PUBLIC_URL: 'https://api.example.com' };
onEach('the e-mail of an account', { settings: SETTINGS, servers: MAILS }, ({ api, mails }) => {
  afterEach(() => {
    mails.behaviour = 'accepts';
    api.moveClock(0);
  });

  const register = async (email: string) => {
    const account = await api.accounts.register(email);
    const { access } = await api.accounts.login(email);
    return { id: account.id as number, headers: bearer(access) };
  };
  const me = async (headers: Record<string, string>) => (await api.get('/auth/me/', headers)).body;
  /** Adds what otherwise an authenticator or a provider would take part in. */
  const insert = async (table: 'passkeys' | 'social_identities', id: number) => {
    const more =
      table === 'passkeys'
        ? `INSERT INTO passkeys (account_id, credential_id, public_key, counter, transports, name, created_at)
           VALUES (:id, :text, 'x', 0, '[]', 'Passkey', :now)`
        : `INSERT INTO social_identities (account_id, provider, subject, created_at) VALUES (:id, 'google', :text, :now)`;
    const parameters = { id, text: `stranger ${id}`, now: new Date().toISOString() };
    await api.rows.execute(more, parameters);
  };
  const verify = (token: unknown) => api.post('/auth/email/verify/', { token });
  const resend = (headers = {}, body?: object) =>
    body === undefined
      ? api.send({ method: 'POST', url: '/auth/email/resend/', headers })
      : api.post('/auth/email/resend/', body, headers);
  const change = (headers: Record<string, string>, new_email: string, password = PASSWORD) =>
    api.post('/auth/email/change/', { new_email, password }, headers);
  const confirm = (token: string) => api.post('/auth/email/change/confirm/', { token });
  /** Waits until no mail is due. */
  const settle = () =>
    until('all mails are sent', async () => {
      await api.app.get(MailSender).poll();
      return (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM mails'))!.n === 0;
    });

  /** Waits until a mail to this address was attempted. */
  const untilAttempted = (email: string) =>
    until('the mail was attempted', () => mails.attempts.includes(email));

  describe('verification', () => {
    it('accepts the token of the registration mail, once', async () => {
      const { headers } = await register('first@example.com');
      expect((await me(headers)).is_email_verified).toBe(false);
      const arrived = await mails.next('first@example.com');
      const token = tokenIn(arrived);

      expect(linkIn(arrived)).toBe(`https://api.example.com/account/#action=verify-email&token=${token}`);
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(await api.post('/auth/email/verify/', { token }, headers)).toHaveStatus(200);
      expect((await me(headers)).is_email_verified).toBe(true);
      expect(await verify(token)).toBeError('INVALID_CODE');
      expect(mails.to('first@example.com')).toHaveLength(1);
    });

    const insertKey = async (_: number, headers: Record<string, string>) => {
      await api.post('/auth/api-keys/', { name: 'Key', scope: 'read' }, headers);
    };
    const turnOn = (_: number, headers: Record<string, string>) => turnOnFactor(api, headers);

    describe.each([
      ['a passkey', (id: number) => insert('passkeys', id)],
      ['an identity', (id: number) => insert('social_identities', id)],
      ['an API key', insertKey],
      ['a second factor', turnOn],
    ])('of an account that has %s', (what, add) => {
      const prepare = async (how: string) => {
        const email = `${how}.${what.replaceAll(' ', '-').toLowerCase()}@example.com`;
        const { id, headers } = await register(email);
        await add(id, headers);
        return { email, headers, token: tokenIn(await mails.next(email)) };
      };
      const withPassword = (token: string, password: string) =>
        api.post('/auth/email/verify/', { token, password });

      it('needs its password, and the token stays usable', async () => {
        const { token, headers } = await prepare('password');
        const refused = await verify(token);
        expect(refused).toBeError('FORBIDDEN');
        expect(refused.body.error.message).toContain('reset');
        const wrong = await withPassword(token, 'wrong');
        expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
        expect((await me(headers)).is_email_verified).toBe(false);

        expect(await withPassword(token, PASSWORD)).toHaveStatus(200);
        expect((await me(headers)).is_email_verified).toBe(true);
      });

      it('accepts a caller who is logged in to it, and nobody else', async () => {
        const { token, headers } = await prepare('login');
        const other = await register(`other.${what.replaceAll(' ', '-').toLowerCase()}@example.com`);
        expect(await api.post('/auth/email/verify/', { token }, other.headers)).toBeError('FORBIDDEN');
        expect(await api.post('/auth/email/verify/', { token }, headers)).toHaveStatus(200);
      });
    });

    it('accepts exactly one of 50 concurrent requests with one token', async () => {
      await register('fifty@example.com');
      const token = tokenIn(await mails.next('fifty@example.com'));

      const replies = await times(50, () => verify(token));

      expect(statuses(replies)).toEqual([200, ...Array.from({ length: 49 }, () => 400)]);
    });

    it('accepts the token for 24 hours', async () => {
      await register('late@example.com');
      const token = tokenIn(await mails.next('late@example.com'));
      await api.mailsSent('verify-email');

      api.moveClock(24 * HOUR + 1000);
      expect(await verify(token)).toBeError('INVALID_CODE');
      api.moveClock(23 * HOUR);
      expect(await verify(token)).toHaveStatus(200);
    });

    it.each(['', 'x', '\u{1F511}', 'x'.repeat(10_000)])('rejects any other token: %#', async (token) => {
      expect(await verify(token)).toBeError('INVALID_CODE');
    });

    it.each([undefined, null, 5, ['x'], 'a\0'])('rejects a token that is not text: %j', async (token) => {
      expect(await verify(token)).toBeError('VALIDATION_ERROR', ['token']);
    });

    it('stores only the hash of a token', async () => {
      await register('hashed@example.com');
      const token = tokenIn(await mails.next('hashed@example.com'));

      const rows = await api.rows.all('SELECT * FROM one_time_secrets');
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain(token);
    });
  });

  describe('resending the mail', () => {
    it('is possible after a minute, and the new token replaces the first', async () => {
      const { headers } = await register('again@example.com');
      const first = tokenIn(await mails.next('again@example.com'));

      const early = await resend(headers);
      expect(early).toBeError('RATE_LIMITED');
      expect(Number(early.headers['retry-after'])).toBeGreaterThan(50);
      await api.mailsSent('verify-email');
      api.moveClock(61_000);
      expect(await resend(headers)).toHaveStatus(202);
      const second = tokenIn(await mails.next('again@example.com'));

      expect(await verify(first)).toBeError('INVALID_CODE');
      expect(await api.post('/auth/email/verify/', { token: second }, headers)).toHaveStatus(200);
      expect(await resend(headers)).toBeError('CONFLICT');
    });

    it('sends one mail for 10 concurrent requests', async () => {
      const { headers } = await register('rush@example.com');
      await mails.next('rush@example.com');
      await api.mailsSent('verify-email');
      api.moveClock(61_000);

      expect(statuses(await times(10, () => resend(headers)))).toEqual([
        202,
        ...Array.from({ length: 9 }, () => 429),
      ]);
      await settle();
      expect(mails.to('rush@example.com')).toHaveLength(2);
    });

    it('requires a login or the password', async () => {
      await register('locked@example.com');
      await api.mailsSent('verify-email');
      api.moveClock(61_000);

      expect(await resend({}, { email: 'locked@example.com' })).toBeError('VALIDATION_ERROR', ['password']);
      const wrong = { email: 'locked@example.com', password: 'wrong' };
      expect(await resend({}, wrong)).toBeError('UNAUTHENTICATED');
      expect(await resend({}, { ...wrong, password: PASSWORD })).toHaveStatus(202);
    });
  });

  describe('a change of address', () => {
    it('takes effect after its confirmation, and notifies the old address', async () => {
      const { headers } = await register('old@example.com');
      await mails.next('old@example.com');
      api.moveClock(MINUTE);

      const reply = await change(headers, 'New@EXAMPLE.com');
      expect(reply).toHaveStatus(202);
      expect((await mails.next('old@example.com')).mail.subject).toBe(
        'Your e-mail address is about to change',
      );
      expect((await me(headers)).email).toBe('old@example.com');
      const token = tokenIn(await mails.next('New@example.com'));
      const confirmed = await confirm(token);

      expect(confirmed).toHaveStatus(200);
      expect(confirmed.body).toEqual(await me(headers));
      expect(confirmed.body).toMatchObject({ email: 'New@example.com', is_email_verified: true });
      expect(await confirm(token)).toBeError('INVALID_CODE');
      await api.accounts.login('new@example.com');
      const old = await api.post('/auth/login/', { email: 'old@example.com', password: PASSWORD });
      expect(old).toBeError('UNAUTHENTICATED');
    });

    it('responds the same if the address is taken, and notifies its owner', async () => {
      const { headers } = await register('mover@example.com');
      await register('taken@example.com');
      await mails.next('taken@example.com');
      api.moveClock(MINUTE);

      const free = await change(headers, 'free@example.com');
      const taken = await change(headers, 'TAKEN@example.com');

      expect([taken.status, taken.text]).toEqual([free.status, free.text]);
      const { mail } = await mails.next('taken@example.com');
      expect(mail.subject).toBe('You already have an account');
      expect(mail.text).not.toContain('token=');
      expect(mail.text).not.toContain('mover@example.com');
    });

    it('accepts another spelling of the same address', async () => {
      const { headers } = await register('case@example.com');
      await mails.next('case@example.com');
      api.moveClock(MINUTE);

      expect(await change(headers, 'CASE@example.com')).toHaveStatus(202);
      expect(await confirm(tokenIn(await mails.next('CASE@example.com')))).toHaveStatus(200);
      expect((await me(headers)).email).toBe('CASE@example.com');
    });

    it('requires the password, and counts wrong ones as failed logins', async () => {
      const { headers } = await register('guess@example.com');

      const wrong = await change(headers, 'x@example.com', 'wrong');
      expect(wrong.status).toBe(400);
      expect(wrong.body).toEqual({ error: 'The current password is incorrect' });
      for (let n = 1; n < 20; n++) await change(headers, 'x@example.com', 'wrong');
      expect(await change(headers, 'x@example.com')).toBeError('RATE_LIMITED');
      const login = await api.post('/auth/login/', { email: 'guess@example.com', password: PASSWORD });
      expect(login).toBeError('RATE_LIMITED');
    });

    it('succeeds for one of two accounts with the same new address', async () => {
      const [one, two] = [await register('one@example.com'), await register('two@example.com')];
      await change(one.headers, 'both@example.com');
      await settle();
      api.moveClock(MINUTE);
      await change(two.headers, 'both@example.com');
      const tokens = [await mails.next('both@example.com'), await mails.next('both@example.com')].map(
        tokenIn,
      );

      const replies = await Promise.all(tokens.map(confirm));

      expect(statuses(replies)).toEqual([200, 409]);
      const emails = [await me(one.headers), await me(two.headers)].map(({ email }) => email);
      expect(emails.filter((email) => email === 'both@example.com')).toHaveLength(1);
      const loser = tokens[replies.findIndex(({ status }) => status === 409)]!;
      expect(await confirm(loser)).toBeError('CONFLICT');
    });

    it('follows the newest request, also when an earlier mail is retried', async () => {
      const { headers } = await register('typo@example.com');
      mails.behaviour = 'rejects';
      await change(headers, 'stranger@example.com');
      await untilAttempted('stranger@example.com');
      mails.behaviour = 'accepts';
      await change(headers, 'right@example.com');
      const token = tokenIn(await mails.next('right@example.com'));
      await api.mailsSent('change-email');
      api.moveClock(HOUR);
      await settle();

      expect(mails.to('stranger@example.com')).toEqual([]);
      expect(await confirm(token)).toHaveStatus(200);
    });

    it('follows the newest request, also when an earlier mail is delayed while it is being sent', async () => {
      const { headers } = await register('slow@example.com');
      const { promise: delay, resolve: resume } = Promise.withResolvers<void>();
      const removed = jest.spyOn(api.app.get(MailQueue, { strict: false }), 'remove');
      const sender = api.app.get(MailSender);
      const work = sender.work.bind(sender);
      let delayed: string | undefined;
      jest.spyOn(sender, 'work').mockImplementation(async (mail) => {
        if (mail.data.includes('stranger-of-slow@example.com')) {
          delayed = mail.id;
          await delay;
        }
        await work(mail);
      });
      await change(headers, 'stranger-of-slow@example.com');
      await until('the first mail is delayed', () => delayed !== undefined);
      await change(headers, 'right-of-slow@example.com');
      const token = tokenIn(await mails.next('right-of-slow@example.com'));
      resume();
      await until('the first mail is done', () => removed.mock.calls.some(([{ id }]) => id === delayed));

      expect(await confirm(token)).toHaveStatus(200);
      expect(mails.to('stranger-of-slow@example.com')).toEqual([]);
    });

    it('is dropped after another change of address, also if its mail is still queued', async () => {
      const { headers } = await register('before@example.com');
      mails.behaviour = 'rejects';
      await change(headers, 'late-mail@example.com');
      await untilAttempted('late-mail@example.com');
      await api.accounts.admin().changeEmail('before@example.com', 'after@example.com');
      mails.behaviour = 'accepts';
      api.moveClock(HOUR);
      await settle();

      expect(mails.to('late-mail@example.com')).toEqual([]);
    });

    it('is dropped after a change of password, also if its mail is still queued', async () => {
      const passwords = { old_password: PASSWORD, new_password: 'another password' };
      const changePassword = (headers: Record<string, string>) =>
        api.post('/auth/change-password/', passwords, headers);
      const { headers: first } = await register('thief@example.com');
      await change(first, 'sent@example.com');
      const token = tokenIn(await mails.next('sent@example.com'));
      expect(await changePassword(first)).toHaveStatus(200);
      expect(await confirm(token)).toBeError('INVALID_CODE');

      const { headers: second } = await register('thief2@example.com');
      mails.behaviour = 'rejects';
      await change(second, 'waiting@example.com');
      await untilAttempted('waiting@example.com');
      expect(await changePassword(second)).toHaveStatus(200);
      mails.behaviour = 'accepts';
      api.moveClock(HOUR);
      await settle();
      expect(mails.to('waiting@example.com')).toEqual([]);
    });
  });
});

const REQUIRED = {
  settings: {
    ACCOUNT_LINKS_URL: 'https://app.example.com/account?from=mail',
    REQUIRE_VERIFIED_EMAIL: 'on',
  },
  servers: MAILS,
};
onEach('REQUIRE_VERIFIED_EMAIL=on', REQUIRED, ({ api, mails }) => {
  it('rejects logins with the right password until the e-mail is verified', async () => {
    const credentials = { email: 'ada@example.com', password: PASSWORD };
    await api.accounts.register('ada@example.com');

    for (const path of ['/auth/login/', '/auth/session/']) {
      expect(await api.post(path, credentials)).toBeError('FORBIDDEN');
      expect(await api.post(path, { ...credentials, password: 'wrong' })).toBeError('UNAUTHENTICATED');
    }
    await mails.next('ada@example.com');
    await api.mailsSent('verify-email');
    api.moveClock(61_000);
    expect(await api.post('/auth/email/resend/', credentials)).toHaveStatus(202);
    const arrived = await mails.next('ada@example.com');
    expect(linkIn(arrived)).toMatch(
      /^https:\/\/app\.example\.com\/account\?from=mail#action=verify-email&token=/,
    );
    expect(await api.post('/auth/email/verify/', { token: tokenIn(arrived) })).toHaveStatus(200);

    for (const path of ['/auth/login/', '/auth/session/']) {
      expect(await api.post(path, credentials)).toHaveStatus(200);
    }
  });
});
