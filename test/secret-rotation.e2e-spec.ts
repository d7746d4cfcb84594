import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { FactorOwner, totpCode } from './support/second-factor.js';
import { GitHub } from './support/social/github.js';
import { Visitor } from './support/social/visitor.js';
import { STORES } from './support/stores.js';

const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
const rotated = { jwtSecret: NEW, jwtSecretPrevious: OLD };

let github: GitHub;
beforeAll(async () => {
  github = await new GitHub().start();
});
afterAll(() => github.stop());

describe.each(STORES)('a rotation of JWT_SECRET on %s', (store) => {
  let api: TestApi;

  const start = async () => {
    const settings = {
      ...github.settings,
      PUBLIC_URL: 'https://api.example.com',
      WRITE_ACCESS: 'authenticated',
      JWT_SECRET: OLD,
    };
    api = await startApi(store, settings, [FixtureModule]);
    await api.accounts.register('ada@example.com');
  };

  it('keeps tokens, sessions and CSRF tokens valid', async () => {
    await start();
    const tokens = await api.accounts.login('ada@example.com');
    const session = await api.accounts.session('ada@example.com');
    await api.restart(rotated);

    expect(await api.get('/auth/me/', bearer(tokens.access))).toHaveStatus(200);
    expect(await api.post('/auth/verify/', { token: tokens.refresh })).toHaveStatus(200);
    expect(await api.patch('/auth/me/', { name: 'Ada' }, session.headers)).toHaveStatus(200);
    const { body } = await api.get('/auth/session/', session.cookie);
    expect(body.csrf_token).not.toBe(session.headers['x-csrf-token']);
    const renewed = { ...session.cookie, 'x-csrf-token': body.csrf_token };
    expect(await api.patch('/auth/me/', { name: 'Ada' }, renewed)).toHaveStatus(200);

    const next = (await api.post('/auth/refresh/', { refresh: tokens.refresh })).body;
    await api.restart({ jwtSecret: NEW, jwtSecretPrevious: undefined });
    expect(await api.get('/auth/me/', bearer(next.access))).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(tokens.access))).toBeError('TOKEN_NOT_VALID');
    expect(await api.patch('/auth/me/', {}, session.headers)).toBeError('CSRF_FAILED');
    await api.stop();
  });

  it('never gives a replica a token signed with a secret that it lacks', async () => {
    await start();
    // In the first step, every replica gets the next secret before any of them signs with it.
    await api.restart({ jwtSecret: OLD, jwtSecretPrevious: NEW });
    const { access } = await api.accounts.login('ada@example.com');

    await api.restart({ jwtSecret: OLD, jwtSecretPrevious: undefined });
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
    await api.stop();
  });

  it('recognizes a repeated Idempotency-Key and its body', async () => {
    await start();
    const { access } = await api.accounts.login('ada@example.com');
    const headers = { ...bearer(access), 'idempotency-key': 'one' };
    const first = await api.post('/v1/stubs', { item: 'Tea' }, headers);
    await api.restart(rotated);

    const repeated = await api.post('/v1/stubs', { item: 'Tea' }, headers);
    expect(repeated.headers['idempotent-replayed']).toBe('true');
    expect(repeated.text).toBe(first.text);
    expect(await api.post('/v1/stubs', { item: 'Milk' }, headers)).toBeError('IDEMPOTENCY_KEY_REUSED');
    await api.stop();
  });

  it('does not interrupt a social login', async () => {
    await start();
    const emails = [{ email: 'octo@example.com', primary: true, verified: true }];
    github.person = { id: 1, login: 'octo', name: null, emails };
    const site = { config: api.config, get: (...request: Parameters<TestApi['get']>) => api.get(...request) };
    const visitor = new Visitor(site);
    const back = await visitor.logInAt(await visitor.start('github'), '1');
    await api.restart(rotated);

    const reply = await visitor.get(back);
    expect(reply).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(reply.body.access))).toHaveStatus(200);
    await api.stop();
  });

  it('keeps stored secrets after a leak, by the key that the guide computes', async () => {
    await start();
    const ada = await FactorOwner.register(api);
    const { secret } = await ada.turnOn();
    const code = totpCode(secret, api.now.getTime() - Date.now());
    const guide = readFileSync('docs/operations.md', 'utf8');
    const [, script] = /^node -p "(.+)" "\$JWT_SECRET"$/m.exec(guide)!;
    const key = execFileSync(process.execPath, ['-p', script!, OLD]).toString().trim();
    const encryptionKeyPrevious = Buffer.from(key, 'base64');
    const moved = api.now.getTime() - Date.now();
    await api.restart({ jwtSecret: NEW, jwtSecretPrevious: undefined, encryptionKeyPrevious });
    api.moveClock(moved);

    const challenge = await api.post('/auth/login/', { email: ada.email, password: PASSWORD });
    const login = { mfa_token: challenge.body.mfa_token, code };
    expect(await api.post('/auth/login/', login)).toHaveStatus(200);
    await api.stop();
  });

  it('rejects a secret that is neither of the two', async () => {
    await start();
    const { access } = await api.accounts.login('ada@example.com');
    await api.restart({ jwtSecret: NEW, jwtSecretPrevious: 'x'.repeat(32) });

    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    await api.stop();
  });
});
