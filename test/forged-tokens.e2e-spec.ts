import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { bearer, type Tokens } from './support/accounts.js';
import { FixtureModule } from './support/fixture.module.js';
import { decode, forge, HEADER, sign } from './support/forged-tokens.js';
import { onEach } from './support/on-each.js';

const key = 'the right key, of which nobody else knows';

onEach('forged and wrong tokens', { settings: { JWT_SECRET: key }, modules: [FixtureModule] }, ({ api }) => {
  let tokens: Tokens;
  let accessForgeries: [string, string][];
  let refreshForgeries: [string, string][];
  beforeAll(async () => {
    await api.accounts.register('ada@example.com');
    await api.accounts.register('bob@example.com');
    tokens = await api.accounts.login('ada@example.com');
    accessForgeries = forge(tokens.access, key);
    refreshForgeries = forge(tokens.refresh, key);
  });

  const resign = (token: string) => sign(HEADER, decode(token.split('.')[1]!), key);

  it('differ from correctly signed tokens, which tests can create too', async () => {
    expect(await api.get('/auth/me/', bearer(resign(tokens.access)))).toHaveStatus(200);
    expect(await api.post('/auth/verify/', { token: resign(tokens.refresh) })).toHaveStatus(200);
    expect(accessForgeries.length).toBeGreaterThanOrEqual(60);
  });

  it('are rejected as access tokens', async () => {
    for (const [name, token] of accessForgeries) {
      const reply = await api.get('/auth/me/', bearer(token));
      expect([name, reply.status, reply.body.error?.code]).toEqual([name, 401, 'TOKEN_NOT_VALID']);
      expect(reply).toBeError('TOKEN_NOT_VALID');
    }
  });

  it('are rejected by GraphQL', async () => {
    for (const [name, token] of accessForgeries) {
      const { status, body } = await api.graphql('{ dummies { nodes { id } } }', {}, bearer(token));
      expect([name, status, body.data, body.errors?.[0].extensions.code]).toEqual([
        name,
        401,
        undefined,
        'UNAUTHENTICATED',
      ]);
    }
  });

  it('are rejected by the verification', async () => {
    for (const [name, token] of [...accessForgeries, ...refreshForgeries]) {
      const reply = await api.post('/auth/verify/', { token });
      expect([name, reply.status, reply.body.error?.code]).toEqual([name, 401, 'TOKEN_NOT_VALID']);
    }
  });

  it('are rejected by refresh and logout, and the genuine token stays valid', async () => {
    for (const [name, token] of refreshForgeries) {
      for (const path of ['/auth/refresh/', '/auth/logout/']) {
        const reply = await api.post(path, { refresh: token });
        expect([name, reply.status, reply.body.error?.code]).toEqual([name, 401, 'TOKEN_NOT_VALID']);
      }
    }
    expect(await api.post('/auth/verify/', { token: tokens.refresh })).toHaveStatus(200);
  });

  it('include a refresh token used as an access token, and the reverse', async () => {
    expect(await api.get('/auth/me/', bearer(tokens.refresh))).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh: tokens.access })).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/logout/', { refresh: tokens.access })).toBeError('TOKEN_NOT_VALID');
  });

  it('include tokens of an unknown login or of another account', async () => {
    const bob = await api.accounts.login('bob@example.com');
    const [ada, bobs] = [decode(tokens.refresh.split('.')[1]!), decode(bob.refresh.split('.')[1]!)];

    for (const claims of [
      { ...ada, sid: randomUUID() },
      { ...ada, jti: randomUUID() },
      { ...ada, sid: bobs['sid'], jti: bobs['jti'] },
    ]) {
      const refresh = sign(HEADER, claims, key);
      expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
    }
    expect(await api.post('/auth/verify/', { token: bob.refresh })).toHaveStatus(200);
  });
});
