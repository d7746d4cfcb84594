import { PASSWORD, type TestApi } from './support/api.js';
import { STEP, totpCode, turnOnFactor } from './support/second-factor.js';
import { describeStoredSecrets } from './support/stored-secrets.js';

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
