import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Service } from './support/service.js';
import { Google } from './support/social/google.js';
import { siteOf, Visitor } from './support/social/visitor.js';
import { createStore, STORES, type TestStore } from './support/stores.js';

describe.each(STORES)('the log on %s', (store) => {
  let testStore: TestStore;
  beforeAll(async () => {
    testStore = await createStore(store);
  });
  afterAll(() => testStore.remove());

  it('contains no password, token or hash, even at the trace level', async () => {
    const secret = 'the signing key that no log may ever show';
    const service = await Service.start({ ...testStore.environment, LOG_LEVEL: 'trace', JWT_SECRET: secret });
    const secrets = [secret, 'argon2id', 'old-hunter2', 'new-hunter2', 'bad-hunter2', 'ada@private.example'];

    const send = async (
      method: string,
      path: string,
      body?: unknown,
      token = '',
      more: Record<string, string> = {},
    ) => {
      const reply = await service.fetch(`/auth/${path}/?password=old-hunter2`, {
        method,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'a browser',
          ...(token && { authorization: `Bearer ${token}` }),
          ...more,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const response = (await reply.json().catch(() => ({}))) as Record<string, string>;
      return { status: reply.status, body: response, cookie: reply.headers.get('set-cookie')?.split(';')[0] };
    };
    const email = 'ada@private.example';
    const account = { email, name: 'Ada', password: 'old-hunter2' };

    const statuses = [
      await send('POST', 'register', account),
      await send('POST', 'register', account),
      await send('POST', 'register', { ...account, email: 'bad-hunter2' }),
      await send('POST', 'register', '{"password": "bad-hunter2'),
      await send('POST', 'login', { email, password: 'bad-hunter2' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([201, 409, 422, 400, 401]);

    const first = (await send('POST', 'login', { email, password: 'old-hunter2' })).body;
    const second = (await send('POST', 'refresh', { refresh: first['refresh'] })).body;
    secrets.push(first['access']!, first['refresh']!, second['access']!, second['refresh']!);
    const change = { old_password: 'old-hunter2', new_password: 'new-hunter2' };
    const { access } = second;
    const later = [
      await send('POST', 'refresh', { refresh: first['refresh'] }),
      await send('POST', 'verify', { token: second['access'] }),
      await send('GET', 'me', undefined, access),
      await send('GET', 'me', undefined, `${access}x`),
      await send('PUT', 'me', { name: 'Ada' }, access),
      await send('POST', 'change-password', { ...change, old_password: 'bad-hunter2' }, access),
      await send('POST', 'change-password', { ...change, new_password: 'x' }, access),
      await send('POST', 'change-password', change, access),
      await send('POST', 'logout', { refresh: second['refresh'] }),
    ].map(({ status }) => status);
    expect(later).toEqual([401, 200, 200, 401, 200, 400, 422, 200, 200]);

    const session = await send('POST', 'session', { email, password: 'new-hunter2' });
    const cookie = { cookie: session.cookie! };
    const csrf = { ...cookie, 'x-csrf-token': session.body['csrf_token']! };
    secrets.push(session.cookie!.split('=')[1]!, csrf['x-csrf-token']);
    const bySession = [
      await send('POST', 'session', { email, password: 'bad-hunter2' }, '', cookie),
      await send('GET', 'session', undefined, '', cookie),
      await send('GET', 'sessions', undefined, '', cookie),
      await send('PUT', 'me', { name: 'Ada' }, '', cookie),
      await send('PUT', 'me', { name: 'Ada' }, '', csrf),
      await send('DELETE', 'session', {}, '', csrf),
      await send('GET', 'session', undefined, '', cookie),
    ].map(({ status }) => status);
    expect(bySession).toEqual([401, 200, 200, 403, 200, 204, 401]);
    await service.end();

    const { output } = service;
    expect(service.log.filter(({ route }) => route?.startsWith('/auth/'))).toHaveLength(24);
    for (const text of secrets.flatMap((value) => [value, value.split('.').at(-1)!])) {
      expect(output).not.toContain(text);
    }
  });

  it('contains no secrets of a social login', async () => {
    const publicUrl = 'https://api.example.com';
    const google = await new Google(`${publicUrl}/auth/social/google/callback/`).start();
    google.addPerson('grace', { email: 'grace@private.example', name: 'Grace Private' });
    const redirect = { SOCIAL_LOGIN_REDIRECT: 'https://app.example.com/' };
    const environment = { ...testStore.environment, ...google.settings, PUBLIC_URL: publicUrl, ...redirect };
    const service = await Service.start({ ...environment, LOG_LEVEL: 'trace' });
    const visitor = new Visitor(siteOf(service, publicUrl));
    const arrive = async () => visitor.logInAt(await visitor.start('google'), 'grace');
    const parametersOf = (url: string) => [...new URL(url).searchParams.values()];
    const secrets = [google.clientSecret, 'private'];

    const callback = await arrive();
    secrets.push(...parametersOf(callback).slice(0, 2), visitor.cookies(publicUrl).split('=')[1]!);
    const reply = await visitor.get(callback);
    expect(reply).toHaveStatus(302);
    secrets.push(...parametersOf(reply.headers['location']!));
    google.tampering = (claims) => ({ ...claims, aud: 'another' });
    expect(await visitor.get(await arrive())).toHaveStatus(401);
    const last = await arrive();
    await google.stop();
    expect(await visitor.get(last)).toHaveStatus(503);
    secrets.push(...parametersOf(last).slice(0, 2));
    await service.end();

    expect(service.output).toMatch(/google: unexpected JWT .*audience.* claim value/);
    expect(service.output).toContain('ECONNREFUSED');
    expect(secrets.every((secret) => secret.length >= 7)).toBe(true);
    for (const secret of secrets) expect(service.output).not.toContain(secret);
  });
});

it('the log omits the values of a row that the database rejects', async () => {
  const { environment, ...store } = await createStore('PostgreSQL');
  const service = await Service.start(environment);
  const client = new Client({ connectionString: environment['DATABASE_URL']! });
  await client.connect();
  await client.query('ALTER TABLE accounts ADD CONSTRAINT nobody CHECK (false)');
  await client.end();

  const { status } = await service.fetch('/auth/register/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@private.example', name: 'Ada Byron', password: 'old-hunter2' }),
  });
  await service.end();
  await store.remove();

  expect(status).toBe(500);
  expect(service.output).toContain('nobody');
  for (const text of ['ada@private.example', 'Ada Byron', 'argon2id']) {
    expect(service.output).not.toContain(text);
  }
});
