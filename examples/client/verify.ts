/**
 * Verifies an access token as another service does: with the public keys of the service, and no shared secret. The
 * service must run with `JWT_PRIVATE_KEY` and `PUBLIC_URL`.
 *
 *     openssl ecparam -name prime256v1 -genkey -noout -out jwt.pem
 *     JWT_PRIVATE_KEY_FILE=jwt.pem PUBLIC_URL=http://127.0.0.1:3000 npm start
 *     npm run example:verify           # in another terminal
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';
import { dataOf, printErrors } from './results.ts';

const { positionals, values } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
if (values.help) {
  console.log('Usage: npm run example:verify [-- http://127.0.0.1:3000]');
  process.exit(0);
}

const baseUrl = positionals[0] ?? 'http://127.0.0.1:3000';
printErrors(baseUrl);
const api = createClient<paths, 'application/json'>({ baseUrl });

const account = { email: `ada-${randomUUID()}@example.com`, password: 'first programmer' };
dataOf(await api.POST('/auth/register/', { body: { ...account, name: 'Ada' } }));
const login = dataOf(await api.POST('/auth/login/', { body: account }));
if (!('access' in login)) throw new Error('This account has a second factor');

// The keys are fetched once, and again when a token names a key that is not among them.
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', baseUrl));
const { payload } = await jwtVerify(login.access, keys, {
  issuer: baseUrl,
  audience: baseUrl,
  typ: 'at+jwt', // not a refresh token
  algorithms: ['ES256'],
});
console.log(`The token is of ${String(payload['email'])}, with the role ${String(payload['role'])}`);
