import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';

type Json = Record<string, unknown>;

const encode = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
export const decode = (part: string): Json => JSON.parse(Buffer.from(part, 'base64url').toString());

export const HEADER = { alg: 'HS256', typ: 'JWT' };
const attackersKey = 'a'.repeat(48);
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;

/** Signs any header and payload with an HMAC. */
export function sign(header: unknown, payload: unknown, key: string | Buffer, hash = 'sha256'): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`;
}

function signAsymmetric(header: unknown, payload: unknown, key: typeof rsa.privateKey): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createSign('sha256').update(text).sign(key).toString('base64url')}`;
}

const without = (claims: Json, name: string): Json =>
  Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));

/** Returns every kind of token that must be rejected, derived from a valid one. @param key the signing key */
export function forge(good: string, key: string): [name: string, token: string][] {
  const [header = '', payload = '', signature = ''] = good.split('.');
  const claims = decode(payload) as Json & { iat: number; exp: number; user_id: number };
  const now = Math.floor(Date.now() / 1000);
  const none = (alg: unknown, end = '') => `${encode({ ...HEADER, alg })}.${payload}.${end}`;
  const rightKey = (changes: Json) => sign(HEADER, { ...claims, ...changes }, key);
  const attackersHeader = (more: Json) => sign({ ...HEADER, ...more }, claims, attackersKey);
  const jwk = { kty: 'oct', k: encode(attackersKey), alg: 'HS256' };

  return [
    // The algorithm in the header must not be trusted.
    ['alg none', none('none')],
    ['alg None', none('None')],
    ['alg NONE', none('NONE')],
    ['alg nOnE', none('nOnE')],
    ['alg none with the signature', none('none', signature)],
    ['alg none with any signature', none('none', 'eA')],
    ['alg empty', none('', signature)],
    ['alg null', none(null, signature)],
    ['alg a number', none(256, signature)],
    ['alg a list', none(['HS256'], signature)],
    ['alg an object', none({}, signature)],
    ['alg in lower case', none('hs256', signature)],
    ['no alg', `${encode({ typ: 'JWT' })}.${payload}.${signature}`],
    ['crit with the right key', sign({ ...HEADER, crit: ['b64'], b64: true }, claims, key)],
    ['HS384 with the right key', sign({ ...HEADER, alg: 'HS384' }, claims, key, 'sha384')],
    ['HS512 with the right key', sign({ ...HEADER, alg: 'HS512' }, claims, key, 'sha512')],
    ['HS1 with the right key', sign({ ...HEADER, alg: 'HS1' }, claims, key, 'sha1')],
    ['RS256 with the right key as HMAC', sign({ ...HEADER, alg: 'RS256' }, claims, key)],
    ['RS256', signAsymmetric({ ...HEADER, alg: 'RS256' }, claims, rsa.privateKey)],
    ['RS256 labelled HS256', signAsymmetric(HEADER, claims, rsa.privateKey)],
    ['PS256', signAsymmetric({ ...HEADER, alg: 'PS256' }, claims, rsa.privateKey)],
    ['ES256', signAsymmetric({ ...HEADER, alg: 'ES256' }, claims, ec.privateKey)],
    ['HMAC with a public key', sign(HEADER, claims, publicPem)],

    // The key must not depend on the header.
    ['another key', sign(HEADER, claims, attackersKey)],
    ['an empty key', sign(HEADER, claims, '')],
    ['a truncated key', sign(HEADER, claims, key.slice(0, -1))],
    ['the key decoded from base64', sign(HEADER, claims, Buffer.from(key, 'base64'))],
    ['kid', attackersHeader({ kid: attackersKey })],
    ['kid of a file', sign({ ...HEADER, kid: '/dev/null' }, claims, '')],
    ['kid of a table', attackersHeader({ kid: `x' UNION SELECT '${attackersKey}` })],
    ['jku', attackersHeader({ jku: 'http://127.0.0.1:1/jwks.json' })],
    ['jwk', attackersHeader({ jwk })],
    ['jwk of a private key', attackersHeader({ jwk: rsa.publicKey.export({ format: 'jwk' }) })],
    ['x5u', attackersHeader({ x5u: 'http://127.0.0.1:1/cert.pem' })],
    ['x5c', attackersHeader({ x5c: [encode(publicPem)] })],
    ['crit', attackersHeader({ crit: ['exp'] })],
    ['an empty signature', `${header}.${payload}.`],
    ['a truncated signature', `${header}.${payload}.${signature.slice(0, -2)}`],
    ['a signature of other claims', `${header}.${encode({ ...claims, sub: '77' })}.${signature}`],
    ['another header with the signature', `${encode({ ...HEADER, x: 1 })}.${payload}.${signature}`],

    // Signed with the right key: every claim must still be checked.
    ...['exp', 'iat', 'jti', 'sub', 'token_type', 'sid', 'user_id'].map((name): [string, string] => [
      `no ${name}`,
      sign(HEADER, without(claims, name), key),
    ]),
    ['exp null', rightKey({ exp: null })],
    ['exp as text', rightKey({ exp: String(claims.exp) })],
    ['exp as a list', rightKey({ exp: [claims.exp] })],
    ['exp with a fraction', rightKey({ exp: claims.exp + 0.5 })],
    [
      'exp that overflows to infinity',
      sign(HEADER, `{"exp":1e999,${JSON.stringify(without(claims, 'exp')).slice(1)}`, key),
    ],
    ['exp negative', rightKey({ exp: -claims.exp })],
    ['expired by a second', rightKey({ exp: now - 1 })],
    ['expired right now', rightKey({ exp: now })],
    ['iat a minute in the future', rightKey({ iat: now + 60 })],
    ['iat a day in the future', rightKey({ iat: now + 86_400 })],
    ['iat in milliseconds', rightKey({ iat: Date.now() })],
    ['iat as text', rightKey({ iat: String(claims.iat) })],
    ['nbf in the future', rightKey({ nbf: now + 600 })],
    ['jti a number', rightKey({ jti: 5 })],
    ['jti empty', rightKey({ jti: '' })],
    ['jti with a NUL character', rightKey({ jti: '\0' })],
    ['sid a list', rightKey({ sid: [claims['sid']] })],
    ['sub a number', rightKey({ sub: claims.user_id })],
    ['sub of another account', rightKey({ sub: String(claims.user_id + 1) })],
    ['sub with a space', rightKey({ sub: ` ${claims.user_id}` })],
    ['sub of no account', rightKey({ sub: '999999', user_id: 999_999 })],
    ['sub negative', rightKey({ sub: '-1', user_id: -1 })],
    ['sub beyond safe integers', rightKey({ sub: '9007199254740993', user_id: 9_007_199_254_740_992 })],
    ['user_id as text', rightKey({ user_id: String(claims.user_id) })],
    ['user_id of another account', rightKey({ user_id: claims.user_id + 1 })],
    ['token_type unknown', rightKey({ token_type: 'id' })],
    ['token_type in another case', rightKey({ token_type: String(claims['token_type']).toUpperCase() })],
    ['token_type a list', rightKey({ token_type: [claims['token_type']] })],
    ['a payload that is text', sign(HEADER, '"text"', key)],
    ['a payload that is null', sign(HEADER, 'null', key)],
    ['a payload that is a list', sign(HEADER, '[]', key)],
    ['a payload that is not JSON', sign(HEADER, '{', key)],
    ['an empty payload', sign(HEADER, '', key)],

    // Not JWTs.
    ['one part', header],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.${signature}`],
    ['dots', '..'],
    ['a UUID', randomUUID()],
    ['SQL', `' OR 1=1 --`],
    ['a token with a trailing character', `${good}x`],
    ['60 kilobytes', sign(HEADER, { ...claims, more: 'x'.repeat(45_000) }, key)],
    ['60 kilobytes of dots', '.'.repeat(60_000)],
  ];
}
