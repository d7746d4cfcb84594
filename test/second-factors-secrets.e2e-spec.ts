import { expect } from '@jest/globals';
import { PASSWORD, type Reply, type TestApi } from './support/api.js';
import { STEP, totpCode, turnOnFactor } from './support/second-factor.js';
import { describeStoredSecrets } from './support/stored-secrets.js';

const EMAIL = 'ada@example.com';
let moved = 0;

/** Both steps of a login, with a code that was not used yet. */
async function logIn(api: TestApi, secret: string): Promise<Reply> {
  moved += STEP;
  api.moveClock(moved);
  const { mfa_token } = (await api.post('/auth/login/', { email: EMAIL, password: PASSWORD })).body;
  return api.post('/auth/login/', { mfa_token, code: totpCode(secret, moved) });
}

describeStoredSecrets('the stored secrets of second factors', {
  fill: async (api) => {
    moved = 0;
    return (await turnOnFactor(api, await api.accounts.logInNew(EMAIL))).secret;
  },
  use: async (api, secret) => expect(await logIn(api, secret)).toHaveStatus(200),
  fail: async (api) => expect(await logIn(api, 'JBSWY3DPEHPK3PXP')).toBeError('INTERNAL_ERROR'),
  table: 'totp_factors',
  columns: ['secret'],
});
