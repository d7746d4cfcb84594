import { execFile } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
  SignJWT,
} from 'jose';
import { promisify } from 'node:util';
import { bearer } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';

const ISSUER = 'https://api.example.com';
const EMAIL = 'ada@example.com';

const newKey = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
};

const [FIRST, SECOND] = [newKey(), newKey()];

const run = promisify(execFile);

const keysOf = async (api: TestApi) => (await api.get('/.well-known/jwks.json')).body.keys as any[];

onEach('JWT_PRIVATE_KEY', { settings: { PUBLIC_URL: ISSUER, JWT_SECRET: 'o'.repeat(32) } }, ({ api }) => {
  beforeAll(async () => {
    await api.accounts.register(EMAIL);
  });

  it('publishes no keys without it', async () => {
    expect(await keysOf(api)).toEqual([]);
  });

  it('publishes a key once, although it is the previous one as well', async () => {
    await api.restart({ jwtPrivateKey: FIRST, jwtPrivateKeyPrevious: FIRST });
    expect(await keysOf(api)).toHaveLength(1);
  });

  it('lets another service verify the tokens with the published keys', async () => {
    await api.restart({ jwtPrivateKey: FIRST, jwtPrivateKeyPrevious: undefined });
    const { access } = await api.accounts.login(EMAIL);
    const jwks = createRemoteJWKSet(new URL('/.well-known/jwks.json', await api.listen()));

    const { payload, protectedHeader } = await jwtVerify(access, jwks, {
      issuer: ISSUER,
      audience: ISSUER,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    });

    expect(payload).toMatchObject({
      token_type: 'access',
      email: EMAIL,
      iss: ISSUER,
      aud: ISSUER,
      role: 'user',
    });
    const [key] = await keysOf(api);
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: key.kid });
    expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
  });

  it('gives refresh tokens another media type, which a verifier of access tokens rejects', async () => {
    const { access, refresh } = await api.accounts.login(EMAIL);
    const jwks = createLocalJWKSet({ keys: await keysOf(api) });
    const asAccess = (token: string) =>
      jwtVerify(token, jwks, { issuer: ISSUER, audience: ISSUER, typ: 'at+jwt' });
    await expect(asAccess(access)).resolves.toBeDefined();
    await expect(asAccess(refresh)).rejects.toThrow('typ');
    expect(decodeJwt(refresh)).toMatchObject({ iss: ISSUER, aud: ISSUER });
    expect(await api.post('/auth/refresh/', { refresh })).toHaveStatus(200);
  });

  it('names the audience of JWT_AUDIENCE, and accepts no other', async () => {
    const { access } = await api.accounts.login(EMAIL);
    await api.restart({ jwtAudience: 'https://others.example.com' });
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    const next = await api.accounts.login(EMAIL);
    expect(decodeJwt(next.access).aud).toBe('https://others.example.com');
    expect(await api.get('/auth/me/', bearer(next.access))).toHaveStatus(200);
    await api.restart({ jwtAudience: undefined });
    expect(await api.get('/auth/me/', bearer(next.access))).toBeError('TOKEN_NOT_VALID');
  });

  it('rejects HS256, except for tokens of JWT_SECRET_PREVIOUS', async () => {
    await api.restart({ jwtPrivateKey: undefined });
    const { access, refresh } = await api.accounts.login(EMAIL);
    await api.restart({ jwtPrivateKey: FIRST });
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/verify/', { token: access })).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');

    await api.restart({ jwtPrivateKey: FIRST, jwtSecretPrevious: api.config.jwtSecret });
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
    const next = await api.post('/auth/refresh/', { refresh });
    expect(decodeProtectedHeader(next.body.access).alg).toBe('ES256');
    await api.restart({ jwtSecretPrevious: undefined });
  });

  it('is replaced without ending a login: the new key is first given to all replicas', async () => {
    const old = await api.accounts.login(EMAIL);
    await api.restart({ jwtPrivateKey: FIRST, jwtPrivateKeyPrevious: SECOND });
    expect(await keysOf(api)).toHaveLength(2);
    const between = await api.accounts.login(EMAIL);

    await api.restart({ jwtPrivateKey: SECOND, jwtPrivateKeyPrevious: FIRST });
    for (const { access, refresh } of [old, between]) {
      expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
      expect(await api.post('/auth/verify/', { token: refresh })).toHaveStatus(200);
    }
    const { access } = await api.accounts.login(EMAIL);
    expect(decodeProtectedHeader(access).kid).toBe((await keysOf(api))[0].kid);

    await api.restart({ jwtPrivateKey: SECOND, jwtPrivateKeyPrevious: undefined });
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(old.access))).toBeError('TOKEN_NOT_VALID');
  });

  it('is accepted and published as the previous one alone, before a replica signs with it', async () => {
    const { access } = await api.accounts.login(EMAIL);
    await api.restart({ jwtPrivateKey: undefined, jwtPrivateKeyPrevious: SECOND });
    expect(await keysOf(api)).toHaveLength(1);
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
    await api.restart({ jwtPrivateKey: SECOND, jwtPrivateKeyPrevious: undefined });
  });

  it('accepts no forged token: a public key as a secret, another key, issuer or id of a key', async () => {
    const { access } = await api.accounts.login(EMAIL);
    const [, payload] = access.split('.');
    const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
    const [key] = await keysOf(api);
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const signed = (headers: object, by: Parameters<SignJWT['sign']>[0], more = {}) =>
      new SignJWT({ ...claims, ...more })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...headers })
        .sign(by);
    const own = (header: object, more = {}) =>
      signed({ kid: key.kid, ...header }, createPrivateKey(SECOND), more);
    expect(await api.get('/auth/me/', bearer(await own({})))).toHaveStatus(200);
    const tokens = [
      await signed({ alg: 'HS256', kid: key.kid }, Buffer.from(JSON.stringify(key))),
      await signed({ alg: 'HS256', kid: key.kid }, Buffer.from(api.config.jwtSecret)),
      await signed({ kid: key.kid }, foreign),
      await signed({}, foreign),
      await signed({ kid: 'x' }, foreign),
      // With the right key, but not as this service signs.
      await own({}, { iss: undefined }),
      await own({}, { iss: 'https://evil.example' }),
      await own({}, { aud: undefined }),
      await own({}, { aud: 'https://evil.example' }),
      await own({}, { aud: [ISSUER, 'https://evil.example'] }),
      await own({ typ: undefined }),
      await own({ typ: 'JWT' }),
      await own({ typ: 'rt+jwt' }),
      await own({ crit: ['b64'], b64: true }),
      `${Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')}.${payload}.`,
    ];
    for (const token of tokens)
      expect(await api.get('/auth/me/', bearer(token))).toBeError('TOKEN_NOT_VALID');

    await api.restart({ publicUrl: 'https://other.example.com' });
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    await api.restart({ publicUrl: ISSUER });
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);
  });
});

it('the example of another service verifies a token', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const api = await startApi(ANY_STORE, { PUBLIC_URL: url, JWT_PRIVATE_KEY: FIRST });
  await api.app.listen(port, '127.0.0.1');
  const { stdout } = await run(process.execPath, ['--no-warnings', 'examples/client/verify.ts', url]);
  expect(stdout).toMatch(/^The token is of ada-.+@example\.com, with the role user\n$/);
  await api.stop();
});
