import { randomBytes } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { STEP, totpCode, turnOnFactor } from './support/second-factor.js';
import { describeStoredSecrets } from './support/stored-secrets.js';
import { STORES } from './support/stores.js';

const EMAIL = 'ada@example.com';
let moved = 0;

/** Both steps of a login, with a code that was not used yet. */
async function statusOfLogin(api: TestApi, secret: string): Promise<number> {
  moved += STEP;
  api.moveClock(moved);
  const { mfa_token } = (await api.post('/auth/login/', { email: EMAIL, password: PASSWORD })).body;
  return (await api.post('/auth/login/', { mfa_token, code: totpCode(secret, moved) })).status;
}

describeStoredSecrets('the stored secrets of second factors', {
  fill: async (api) => {
    moved = 0;
    return (await turnOnFactor(api, await api.accounts.logInNew(EMAIL))).secret;
  },
  works: async (api, secret) => (await statusOfLogin(api, secret)) === 200,
  fails: async (api) => (await statusOfLogin(api, 'JBSWY3DPEHPK3PXP')) === 500,
  table: 'totp_factors',
  columns: ['secret'],
});

describe.each(STORES)('codes that could not be checked on %s', (store) => {
  const key = randomBytes(32);
  const rename = (from: string, to: string) => async (api: TestApi) => {
    await api.rows.execute(`ALTER TABLE ${from} RENAME TO ${to}`);
  };

  it.each([
    [
      'no key decrypts the secret',
      500,
      (api: TestApi) => api.restart({ encryptionKey: randomBytes(32) }),
      (api: TestApi) => api.restart({ encryptionKey: key }),
    ],
    ['the database fails', 503, rename('totp_factors', 'gone'), rename('gone', 'totp_factors')],
  ])('count neither for the account nor for the login: %s', async (_, status, breakIt, repair) => {
    let api = await startApi(store, { ENCRYPTION_KEY: key.toString('base64') });
    const { secret } = await turnOnFactor(api, await api.accounts.logInNew(EMAIL));
    const complete = (mfa_token: string, code: string) => api.post('/auth/login/', { mfa_token, code });
    const begin = async () =>
      (await api.post('/auth/login/', { email: EMAIL, password: PASSWORD })).body.mfa_token;
    jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const token = await begin();
    for (let n = 0; n < 4; n++) expect(await complete(token, '000000')).toBeError('UNAUTHENTICATED');

    await breakIt(api);
    for (let n = 0; n < 25; n++) expect(await complete(token, '000000')).toHaveStatus(status);
    await repair(api);

    api.moveClock(STEP);
    expect(await complete(token, totpCode(secret, STEP))).toHaveStatus(200);
    // The wrong ones count as before.
    for (let n = 0; n < 10; n++) expect(await complete(await begin(), '000000')).toBeError('UNAUTHENTICATED');
    expect(await complete(await begin(), '000000')).toBeError('RATE_LIMITED');
    await api.stop();
  });
});
