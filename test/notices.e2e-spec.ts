import { expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { pollOften, startApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { turnOnFactor } from './support/second-factor.js';
import { ANY_STORE, settingsOf } from './support/stores.js';

const MINUTE = 61_000;

onEach('notices', { settings: { TRUST_PROXY: '127.0.0.1' }, servers: MAILS }, ({ api, mails }) => {
  const register = async (email: string) => {
    await api.accounts.register(email);
    await api.accounts.admin().verifyEmail(email);
    return bearer((await api.accounts.login(email)).access);
  };
  const change = (headers: Record<string, string>) =>
    api.post('/auth/change-password/', { old_password: PASSWORD, new_password: 'another password' }, headers);

  it('tell the owner of a changed password and address', async () => {
    const headers = await register('ada@example.com');
    expect(await change(headers)).toHaveStatus(200);
    await mails.nextWith('ada@example.com', 'Your password was changed');

    api.moveClock(MINUTE);
    const request = { new_email: 'ada2@example.com', password: 'another password' };
    expect(await api.post('/auth/email/change/', request, headers)).toHaveStatus(202);
    await mails.nextWith('ada@example.com', 'Your e-mail address is about to change');
    const token = tokenIn(await mails.nextWith('ada2@example.com', 'Confirm your new e-mail address'));
    expect(await api.post('/auth/email/change/confirm/', { token })).toHaveStatus(200);
    await mails.nextWith('ada@example.com', 'Your e-mail address was changed');
  });

  it('to the old address counts with the other mails about an address', async () => {
    const headers = await register('counted@example.com');
    await api.mailsSent('verify-email');
    const ask = (new_email: string) =>
      api.post('/auth/email/change/', { new_email, password: PASSWORD }, headers);
    const notices = async () => {
      await api.mailsSent('change-email-notice');
      return mails.to('counted@example.com').filter(({ bytes }) => bytes.includes('about to change')).length;
    };

    expect(await ask('first@example.com')).toHaveStatus(202);
    expect(await notices()).toBe(0);
    api.moveClock(MINUTE);
    expect(await ask('second@example.com')).toHaveStatus(202);
    expect(await ask('third@example.com')).toHaveStatus(202);
    expect(await notices()).toBe(1);
  });

  it('to an owner who is not confirmed count with the mails that a network causes', async () => {
    const email = 'not-confirmed@example.com';
    await api.accounts.register(email);
    const verification = { token: tokenIn(await mails.next(email)) };
    expect(await api.post('/auth/email/verify/', verification)).toHaveStatus(200);
    const headers = {
      ...bearer((await api.accounts.login(email)).access),
      'x-forwarded-for': '203.0.113.1',
    };
    const before = mails.to(email).length;

    for (let n = 0; n < 52; n++) {
      const { body } = await api.post('/auth/api-keys/', { name: 'Key', scope: 'read' }, headers);
      expect(await api.delete(`/auth/api-keys/${body.data.id}/`, headers)).toHaveStatus(204);
    }

    await api.mailsSent('notice');
    expect(mails.to(email)).toHaveLength(before + 100);
    // What others do to the account does not count.
    const root = await api.accounts.logInNew('root@example.com');
    await api.accounts.makeSuperuser('root@example.com');
    const { id } = await api.accounts.admin().get(email);
    const deactivation = { is_active: false, password: PASSWORD };
    const sent = { ...root, 'x-forwarded-for': '203.0.113.1' };
    expect(await api.patch(`/auth/accounts/${id}/`, deactivation, sent)).toHaveStatus(200);
    await mails.nextWith(email, 'Your account was deactivated');
  });

  it('report to the owner what an operator has changed', async () => {
    pollOften(api);
    const headers = await register('lost@example.com');
    await turnOnFactor(api, headers);
    const account = (parameters: string[], input: string) =>
      runCommand('account', parameters, {
        environment: { ...settingsOf(api.config.store), ...mails.settings },
        input,
      });
    const logIn = () => api.post('/auth/login/', { email: 'lost@example.com', password: PASSWORD });

    const kept = await account(['reset-mfa', '--email', 'lost@example.com'], 'no\n');
    expect(kept.code).not.toBe(0);
    expect((await logIn()).body).toHaveProperty('mfa_token');
    const reset = await account(['reset-mfa', '--email', 'lost@example.com'], 'y\n');
    expect(reset).toEqual({ code: 0, output: expect.stringContaining('Take the second factor') });
    expect((await logIn()).body).toHaveProperty('access');
    await mails.nextWith('lost@example.com', 'Two-step login is off');
    expect(await api.get('/auth/me/', headers)).toBeError('TOKEN_NOT_VALID');

    for (const [words, subject] of [
      [['staff', 'lost@example.com'], 'The rights of your account were changed'],
      [['deactivate', 'lost@example.com'], 'Your account was deactivated'],
    ] as const) {
      expect((await account([...words], '')).code).toBe(0);
      await mails.nextWith('lost@example.com', subject);
    }
    expect((await account(['activate', 'lost@example.com'], '')).code).toBe(0);

    const password = 'another password';
    expect((await account(['reset-password', 'lost@example.com'], `${password}\n`)).code).toBe(0);
    await mails.nextWith('lost@example.com', 'Your password was changed');
    expect((await account(['change-email', 'lost@example.com', 'found@example.com'], '')).code).toBe(0);
    await mails.nextWith('lost@example.com', 'Your e-mail address was changed');
  });

  it.each([
    ['deactivates the account', (email: string) => api.accounts.admin().setActive(email, false)],
    ['sets a password', (email: string) => api.accounts.setPassword(email, 'another password')],
  ])('report the API keys that are deleted when an operator %s', async (what, act) => {
    const email = `${what.split(' ')[0]}@example.com`;
    const headers = await register(email);
    expect(await api.post('/auth/api-keys/', { name: 'K', scope: 'read' }, headers)).toHaveStatus(201);

    await act(email);
    await mails.nextWith(email, 'An API key was deleted');
    await api.mailsSent('notice');
  });

  it('are sent to verified addresses only', async () => {
    const headers = await api.accounts.logInNew('unverified@example.com');
    expect(await change(headers)).toHaveStatus(200);
    const count = `SELECT count(*) AS n FROM mails WHERE kind = 'notice'`;
    expect((await api.rows.one<{ n: number }>(count))!.n).toBe(0);
  });

  it('are limited together: registrations, resends and changes of address, one a minute and 20 a day', async () => {
    const headers = await register('limit@example.com');
    // Of either limit, one network may use half.
    const ask = (address = '192.0.2.1') =>
      api.post(
        '/auth/email/change/',
        { new_email: 'target@example.com', password: PASSWORD },
        { ...headers, 'x-forwarded-for': address },
      );
    const sent = () => mails.to('target@example.com').length;
    const settle = () => api.mailsSent('change-email');

    for (let n = 0; n < 3; n++) expect(await ask()).toHaveStatus(202);
    await settle();
    expect(sent()).toBe(1);
    // The address was asked just now, so a registration with it succeeds without a mail.
    const target = await api.accounts.logInNew('target@example.com');
    expect(await api.send({ method: 'POST', url: '/auth/email/resend/', headers: target })).toBeError(
      'RATE_LIMITED',
    );
    for (const [network, total] of [
      ['192.0.2.99', 10],
      ['198.51.100.1', 20],
    ] as const) {
      for (let n = 0; n < 12; n++) {
        api.advanceClock(MINUTE);
        expect(await ask(network)).toHaveStatus(202);
        await settle();
      }
      expect(sent()).toBe(total);
    }
    const blocked = await api.send({ method: 'POST', url: '/auth/email/resend/', headers: target });
    expect(blocked).toBeError('RATE_LIMITED');
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(20 * 3600);
  });

  it('of changes of address leave the owner of an address that a stranger has registered their mails', async () => {
    const stranger = await api.accounts.logInNew('victim@example.com');
    const send = (url: string, address: string, payload?: object) =>
      api.send({
        method: 'POST',
        url,
        headers: { ...stranger, 'x-forwarded-for': address },
        ...(payload && { payload }),
      });

    for (let n = 0; n < 22; n++) {
      api.advanceClock(MINUTE);
      const request = { new_email: `elsewhere${n}@example.com`, password: PASSWORD };
      expect(await send('/auth/email/change/', '192.0.2.1', request)).toHaveStatus(202);
    }

    api.advanceClock(MINUTE);
    expect(await send('/auth/email/resend/', '192.0.2.2')).toBeError('RATE_LIMITED');
    expect(await send('/auth/email/resend/', '198.51.100.2')).toHaveStatus(202);
  });
});

it('a notice never fails its call: without a mail server nothing is sent', async () => {
  const api = await startApi(ANY_STORE);
  await api.restart({ mail: { kind: 'none' } });
  await api.accounts.register('ada@example.com');
  await api.accounts.admin().verifyEmail('ada@example.com');
  const headers = bearer((await api.accounts.login('ada@example.com')).access);
  const change = { old_password: PASSWORD, new_password: 'another password' };
  expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
  await api.stop();
});
