import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import PostalMime from 'postal-mime';
import { MailOutbox, MailSender } from '../src/platform/mail/index.js';
import { PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { MAILS, MailServer, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { Service } from './support/service.js';
import { ANY_STORE, createStore } from './support/stores.js';
import { until } from './support/until.js';

const HOUR = 3600_000;

const waiting = async (api: TestApi) =>
  (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM mails'))!.n;

/** Waits until every mail was attempted once and failed; its next attempt is not due. */
async function untilAttempted(api: TestApi): Promise<void> {
  // An attempt holds its mail for 45 s, and the next one follows after about 5 s.
  const sql = `SELECT count(*) AS n FROM mails WHERE attempts = 0 OR (attempts = 1 AND next_attempt_at > :soon)`;
  await until('every mail was attempted', async () => {
    const soon = new Date(api.now.getTime() + 20_000).toISOString();
    return (await api.rows.one<{ n: number }>(sql, { soon }))!.n === 0;
  });
}

onEach('mails', { servers: MAILS }, ({ api, mails, store }) => {
  afterEach(() => {
    mails.behaviour = 'accepts';
  });

  it('are sent over TLS, after a login, with both parts and the headers of an automatic mail', async () => {
    const before = Date.now() - 1000;
    await api.accounts.register('ada@example.com');
    const { mail, raw, envelope, encrypted } = await mails.next('ada@example.com');

    expect(encrypted).toBe(true);
    expect(envelope).toEqual({ from: 'no-reply@posts.example', to: ['ada@example.com'] });
    expect(mail.from).toMatchObject({ name: 'Posts, "the" API', address: 'no-reply@posts.example' });
    expect(mail.to).toEqual([expect.objectContaining({ address: 'ada@example.com' })]);
    expect(mail.messageId).toMatch(/^<[\da-f-]{36}@posts\.example>$/);
    expect(Date.parse(mail.date!)).toBeGreaterThanOrEqual(before);
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(raw).toMatch(/^MIME-Version: 1\.0\r$/m);
    const link = /^https?:\S+$/m.exec(mail.text!)![0];
    expect(mail.html).toContain(`href="${link.replace('&', '&amp;')}"`);
  });

  it.each([
    ['unusual characters', "o'hara!#$%&*+-/=?^_`{|}~@example.com"],
    ['another script', 'дарья@пример.рф'],
  ])('have intact headers with %s in the address, and line breaks in the name', async (_, email) => {
    await api.accounts.register(email, { name: 'A\r\nBcc: eve@example.com' });
    const arrived = await mails.next(email);

    expect(arrived.envelope.to).toEqual([email]);
    expect(arrived.mail.to).toHaveLength(1);
    expect(arrived.mail.bcc ?? []).toEqual([]);
    expect(arrived.raw).not.toMatch(/^Bcc/im);
  });

  it.each(['rejects', 'hangs', 'disconnects'] as const)(
    'arrive after the recovery of a server that %s, and no request waits for them',
    async (behaviour) => {
      const email = `${behaviour}@example.com`;
      mails.behaviour = behaviour;
      await api.accounts.register(email);
      await until('the server was contacted', () => mails.attempts.includes(email));
      if (behaviour !== 'hangs') await untilAttempted(api);
      mails.behaviour = 'accepts';
      // Past the backoff; another process may take over a mail that hangs when its lease has expired.
      api.moveClock(HOUR);
      await api.app.get(MailSender).poll();

      const { mail } = await mails.next(email);
      expect(mail.subject).toBe('Confirm your e-mail address');
      expect(mails.to(email)).toHaveLength(1);
    },
  );

  it('use at most four connections to a server that hangs, however many mails wait', async () => {
    const hanging = await new MailServer().start();
    const own = await startApi(store, hanging.settings);
    hanging.behaviour = 'hangs';
    const emails = Array.from({ length: 8 }, (_, n) => `many${n}@example.com`);
    for (const email of emails) {
      await own.accounts.register(email);
      await until(
        'it was attempted',
        () => hanging.attempts.length >= Math.min(4, emails.indexOf(email) + 1),
      );
    }
    own.moveClock(1000);
    await own.app.get(MailSender).poll();
    expect(hanging.attempts).toHaveLength(4);

    hanging.behaviour = 'accepts';
    hanging.disconnect();
    await until('the four have failed', async () => (await waiting(own)) === 4);
    own.moveClock(HOUR);
    for (const email of emails) await hanging.next(email);
    await own.stop();
    await hanging.stop();
  });

  it('arrive once after an outage of an hour, with a valid token', async () => {
    const { port } = mails;
    await mails.stop();
    await api.accounts.register('away@example.com');
    await untilAttempted(api);
    for (let minute = 10; minute < 60; minute += 10) {
      api.moveClock(minute * 60_000);
      await api.app.get(MailSender).poll();
    }
    expect(await waiting(api)).toBeGreaterThan(0);

    await mails.start(port);
    api.moveClock(HOUR + 20 * 60_000);
    await api.app.get(MailSender).poll();

    const token = tokenIn(await mails.next('away@example.com'));
    expect(mails.to('away@example.com')).toHaveLength(1);
    expect(await api.post('/auth/email/verify/', { token })).toHaveStatus(200);
  });

  it('are dropped after a day', async () => {
    mails.behaviour = 'rejects';
    await api.accounts.register('never@example.com');
    await untilAttempted(api);
    api.moveClock(23 * HOUR);
    await api.app.get(MailSender).poll();
    expect(await waiting(api)).toBe(1);
    api.moveClock(24 * HOUR + 60_000);
    // The timer may have started an attempt.
    await until('the mail is dropped', async () => {
      await api.app.get(MailSender).poll();
      return (await waiting(api)) === 0;
    });
    expect(mails.to('never@example.com')).toEqual([]);
  });

  it('are recorded with the account, or not at all', async () => {
    await api.accounts.register('twice@example.com');
    await mails.next('twice@example.com');
    const register = (email: string) =>
      api.post('/auth/register/', { email, name: 'Ada', password: PASSWORD });

    expect(await register('TWICE@example.com')).toBeError('CONFLICT');
    expect(await waiting(api)).toBe(0);
    expect(mails.to('twice@example.com')).toHaveLength(1);

    await api.rows.execute('ALTER TABLE mails RENAME TO gone');
    const refused = await register('lost@example.com');
    await api.rows.execute('ALTER TABLE gone RENAME TO mails');
    expect(refused).toBeError('SERVICE_UNAVAILABLE');
    expect(await register('lost@example.com')).toHaveStatus(201);
  });

  it('are sent soon after a transaction that commits late', async () => {
    const own = await startApi(store, mails.settings);
    const message = {
      to: { address: 'late@example.com' },
      subject: 'Late',
      text: 'Late',
      html: '<p>Late</p>',
    };
    own.app.get(MailSender).register('late', async () => message);
    await own.rows.run(async () => {
      await own.app.get(MailOutbox).add('late', 'nobody', {});
      // Longer than its first attempt waits.
      await sleep(1000);
    });

    await until('the mail is sent', () => mails.to('late@example.com').length > 0);
    await own.stop();
    expect(mails.to('late@example.com')).toHaveLength(1);
  });

  it('that wait are replaced by a newer one of their kind alone', async () => {
    mails.behaviour = 'rejects';
    const email = 'waiting@example.com';
    const headers = await api.accounts.logInNew(email);
    await api.accounts.admin().verifyEmail(email);
    const passwords = { old_password: PASSWORD, new_password: 'another password' };
    expect(await api.post('/auth/change-password/', passwords, headers)).toHaveStatus(200);
    for (const [n, moved] of [0, 61_000].entries()) {
      api.moveClock(moved);
      const change = { new_email: `next${n}@example.com`, password: passwords.new_password };
      expect(await api.post('/auth/email/change/', change, headers)).toHaveStatus(202);
    }

    const rows = await api.rows.all<{ data: string }>("SELECT data FROM mails WHERE owner LIKE 'account %'");
    const waitingMails = rows.map(({ data }) => data).join();
    expect(waitingMails).toContain('password-changed');
    expect(waitingMails).toContain('next1@example.com');
    expect(waitingMails).not.toContain('next0@example.com');
    mails.behaviour = 'accepts';
    api.moveClock(HOUR);
    await api.app.get(MailSender).poll();
  });

  it('are recorded without a token', async () => {
    mails.behaviour = 'rejects';
    await api.accounts.register('secret@example.com');
    await untilAttempted(api);

    const [row] = await api.rows.all<{ data: string }>("SELECT * FROM mails WHERE kind = 'verify-email'");
    expect(Object.keys(JSON.parse(row!.data)).toSorted()).toEqual(['accountId', 'email']);
    mails.behaviour = 'accepts';
    api.moveClock(HOUR);
    await api.app.get(MailSender).poll();
  });

  it('are sent once for all registrations with one Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'registration' };
    const body = { email: 'key@example.com', name: 'Ada', password: PASSWORD };

    for (let n = 0; n < 3; n++) expect(await api.post('/auth/register/', body, key)).toHaveStatus(201);
    await mails.next('key@example.com');
    await api.app.get(MailSender).poll();
    expect(mails.to('key@example.com')).toHaveLength(1);
  });
});

it('on PostgreSQL, two replicas send each mail once', async () => {
  const mails = await new MailServer().start();
  const api = await startApi('PostgreSQL', mails.settings);
  const replica = await api.replica();
  const emails = Array.from({ length: 30 }, (_, n) => `replica${n}@example.com`);

  for (const [n, email] of emails.entries()) await (n % 2 ? api : replica).accounts.register(email);
  for (const email of emails) await mails.next(email);
  await until('no mail is left', async () => (await waiting(api)) === 0);

  for (const email of emails) expect(mails.to(email)).toHaveLength(1);
  await replica.stop();
  await api.stop();
  await mails.stop();
});

describe('without SMTP_URL', () => {
  it('in development, each mail is written to a file that the log names', async () => {
    const { environment, ...testStore } = await createStore(ANY_STORE);
    const service = await Service.start(environment);
    const body = JSON.stringify({ email: 'ada@example.com', name: 'Ada', password: PASSWORD });
    await service.fetch('/auth/register/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await until('the log names a file', () => /A mail was written to \S+\.eml/.test(service.output));
    const folder = join(environment['DATA_DIR']!, 'mail');
    const [file] = await readdir(folder);
    const written = await readFile(join(folder, file!), 'utf8');
    const mail = await PostalMime.parse(written);

    expect(mail.subject).toBe('Confirm your e-mail address');
    const link = /^http:\S+$/m.exec(mail.text!)![0];
    const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token')!;
    // A person copies the link from the file, or from the log.
    expect(written).toContain(`\r\n${link}\r\n`);
    expect(/token=([^\s&"]+)/.exec(written)![1]).toBe(token);
    expect(service.log.map(({ msg }) => msg)).toContain(
      `A mail was written to ${join(folder, file!)}; its link is ${link}`,
    );
    expect(service.output).not.toContain('ada@example.com');
    const verified = await service.fetch('/auth/email/verify/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    expect(verified.status).toBe(200);
    await service.end();
    await testStore.remove();
  });

  it('in development, the newest hundred mails are kept', async () => {
    const api = await startApi(ANY_STORE);
    const folder = (api.config.mail as { directory: string }).directory;
    await mkdir(folder, { recursive: true });
    for (let n = 100; n < 220; n++) await writeFile(join(folder, `2020-01-01T00-00-00.${n}Z-x.eml`), '');
    await writeFile(join(folder, 'notes.txt'), '');
    await api.accounts.register('ada@example.com');
    await until('a mail is written', async () =>
      (await readdir(folder)).some((name) => name.startsWith('2') && !name.startsWith('2020')),
    );
    await until('old ones are gone', async () => (await readdir(folder)).length === 101);

    const names = (await readdir(folder)).toSorted();
    expect(names[0]).toBe('2020-01-01T00-00-00.121Z-x.eml');
    expect(names).toContain('notes.txt');
    await api.stop();
  });

  it('in production, requests that need mail return 503, registration works, and the start logs a warning', async () => {
    const settings = { NODE_ENV: 'production', JWT_SECRET: 'ax'.repeat(16), WRITE_ACCESS: 'open' };
    const api = await startApi(ANY_STORE, settings);
    const headers = await api.accounts.logInNew('ada@example.com');

    const resend = await api.send({ method: 'POST', url: '/auth/email/resend/', headers });
    expect(resend).toBeError('SERVICE_UNAVAILABLE');
    // Before the password is checked.
    const change = { new_email: 'x@example.com', password: 'wrong' };
    expect(await api.post('/auth/email/change/', change, headers)).toBeError('SERVICE_UNAVAILABLE');
    const reset = { email: 'ada@example.com' };
    expect(await api.post('/auth/password/reset/', reset)).toBeError('SERVICE_UNAVAILABLE');
    expect(await waiting(api)).toBe(0);
    await api.stop();

    const { environment, ...testStore } = await createStore(ANY_STORE);
    const service = await Service.start({ ...environment, ...settings });
    await service.end();
    expect(service.output).toContain('SMTP_URL is not set');
    await testStore.remove();
  });
});

describe('the mail server connection', () => {
  it('sends no password to another machine without STARTTLS', async () => {
    const mails = await new MailServer().start();
    const api = await startApi(ANY_STORE, {
      ...mails.settings,
      SMTP_URL: mails.settings['SMTP_URL']!.replace('?requireTLS=true', '?ignoreTLS=true'),
    });
    await api.accounts.register('plain@example.com');
    await untilAttempted(api);

    expect(mails.attempts).toEqual([]);
    await api.stop();
    await mails.stop();
  });
});
