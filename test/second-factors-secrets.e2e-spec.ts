import { expect } from '@jest/globals';
import { PASSWORD, type TestApi } from './support/api.js';
import { STEP, totpCode, turnOnFactor } from './support/second-factor.js';
import { describeStoredSecrets } from './support/stored-secrets.js';

const EMAIL = 'ada@example.com';
let moved = 0;

/** Both steps of a login, with a code that was not used yet. */
async function logIn(api: TestApi, secret: string): Promise<void> {
  moved += STEP;
  api.moveClock(moved);
  const { mfa_token } = (await api.post('/auth/login/', { email: EMAIL, password: PASSWORD })).body;
  const code = totpCode(secret, moved);
  expect(await api.post('/auth/login/', { mfa_token, code })).toHaveStatus(200);
}

describeStoredSecrets('the stored secrets of second factors', {
  fill: async (api) => {
    moved = 0;
    return (await turnOnFactor(api, await api.accounts.logInNew(EMAIL))).secret;
  },
  use: logIn,
  stored: async (api) =>
    (await api.rows.all<{ secret: string }>('SELECT secret FROM totp_factors')).map(({ secret }) => secret),
  count: 1,
  columns: String.raw`totp_factors\.secret`,
});
