import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { bearer, PASSWORD, startApi, type TestApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { totpCode, turnOnFactor } from './support/second-factor.js';
import { createStore, STORES } from './support/stores.js';
import { startApiOn } from './support/api.js';

const [FIRST, SECOND] = [randomBytes(32), randomBytes(32)];
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)];
const EMAIL = 'ada@example.com';

async function fill(api: TestApi): Promise<string> {
  const headers = await api.accounts.member(EMAIL);
  return (await turnOnFactor(api, headers)).secret;
}

const stored = async (api: TestApi): Promise<string[]> =>
  (await api.rows.all<{ secret: string }>('SELECT secret FROM totp_factors')).map(({ secret }) => secret);

/** Both steps of a login, with a code that was not used yet. */
async function logIn(api: TestApi, secret: string, steps: number): Promise<Record<string, string>> {
  api.moveClock(steps * 30_000);
  const { mfa_token } = (await api.post('/auth/login/', { email: EMAIL, password: PASSWORD })).body;
  const code = totpCode(secret, steps * 30_000);
  const reply = await api.post('/auth/login/', { mfa_token, code });
  expect(reply).toHaveStatus(200);
  return bearer(reply.body.access);
}

describe.each(STORES)('stored secrets on %s', (store) => {
  it('are encrypted, go on working with the previous key, and a command brings them to the current one', async () => {
    const testStore = await createStore(store);
    const environment = { ...testStore.environment, JWT_SECRET: OLD };
    let api = await startApiOn(environment);
    const secret = await fill(api);
    const first = await stored(api);
    expect(first).toHaveLength(1);
    for (const value of first) expect(value).toMatch(/^\$aes-256-gcm\$v1\$[\da-f]{16}\$[\w-]+$/);
    expect(first.join()).not.toContain(secret);

    // From the derived key to one of its own, and to a second one.
    api = await api.restart({ encryptionKey: FIRST });
    await logIn(api, secret, 1);
    api = await api.restart({ encryptionKey: FIRST, jwtSecret: NEW, jwtSecretPrevious: OLD });
    await logIn(api, secret, 2);
    await api.app.close();
    const keys = {
      ENCRYPTION_KEY: SECOND.toString('base64'),
      ENCRYPTION_KEY_PREVIOUS: FIRST.toString('base64'),
    };
    const settings = { ...testStore.environment, JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD, ...keys };
    const result = await runCommand('account', ['reencrypt'], { environment: settings });
    expect(result.output).toContain('1 value encrypted with the current key');
    const again = await runCommand('account', ['reencrypt'], { environment: settings });
    expect(again.output).toContain('0 values encrypted with the current key');

    api = await startApiOn({
      ...testStore.environment,
      JWT_SECRET: NEW,
      ENCRYPTION_KEY: SECOND.toString('base64'),
    });
    await logIn(api, secret, 3);
    await api.app.close();
    await testStore.remove();
  });

  it('stop the start when no key decrypts them, with a sentence that names the settings', async () => {
    const api = await startApi(store, { JWT_SECRET: OLD });
    await fill(api);

    const restarted = api.restart({ jwtSecret: NEW });

    await expect(restarted).rejects.toThrow(
      /^ENCRYPTION_KEY and JWT_SECRET decrypt not all values of totp_factors\.secret: set ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS/,
    );
    await api.stop();
  });
});
