import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { bearer, startApi, startApiOn, type TestApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { createStore, STORES } from './support/stores.js';

const [FIRST, SECOND] = [randomBytes(32), randomBytes(32)];
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)];
const EMAIL = 'staff@example.com';

/** Creates a webhook. @returns the credentials of staff */
async function fill(api: TestApi): Promise<Record<string, string>> {
  const headers = await api.accounts.staff(EMAIL);
  await api.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', types: ['*'] }, headers);
  return headers;
}

const rotate = async (api: TestApi, headers: Record<string, string>): Promise<string> => {
  const reply = await api.post('/v1/webhooks/1/rotate-secret', {}, headers);
  expect(reply).toHaveStatus(200);
  return reply.body.data.secret;
};

const stored = async (api: TestApi): Promise<string[]> =>
  (await api.rows.all<any>('SELECT secret, replaced_secrets FROM webhooks')).flatMap((row) =>
    Object.values<string>(row),
  );

describe.each(STORES)('the stored secrets of webhooks on %s', (store) => {
  it('are encrypted, go on working with the previous key, and a command brings them to the current one', async () => {
    const testStore = await createStore(store);
    const environment = { ...testStore.environment, JWT_SECRET: OLD };
    let api = await startApiOn(environment);
    const headers = await fill(api);
    const secret = await rotate(api, headers);
    await rotate(api, headers);
    const first = await stored(api);
    expect(first).toHaveLength(2);
    for (const value of first) expect(value).toMatch(/^\$aes-256-gcm\$v1\$[\da-f]{16}\$[\w-]+$/);
    expect(first.join()).not.toContain(secret);

    // From the derived key to one of its own, and to a second one.
    api = await api.restart({ encryptionKey: FIRST, jwtSecret: NEW, jwtSecretPrevious: OLD });
    await rotate(api, headers);
    await api.app.close();
    const keys = {
      ENCRYPTION_KEY: SECOND.toString('base64'),
      ENCRYPTION_KEY_PREVIOUS: FIRST.toString('base64'),
    };
    const settings = { ...testStore.environment, JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD, ...keys };
    const result = await runCommand('account', ['reencrypt'], { environment: settings });
    expect(result.output).toContain('2 values encrypted with the current key');
    const again = await runCommand('account', ['reencrypt'], { environment: settings });
    expect(again.output).toContain('0 values encrypted with the current key');

    const after = await startApiOn({
      ...testStore.environment,
      JWT_SECRET: NEW,
      ENCRYPTION_KEY: SECOND.toString('base64'),
    });
    await rotate(after, bearer((await after.accounts.login(EMAIL)).access));
    await after.app.close();
    await testStore.remove();
  });

  it('stop the start when no key decrypts them, with a sentence that names the settings', async () => {
    const api = await startApi(store, { JWT_SECRET: OLD });
    await fill(api);

    await expect(api.restart({ jwtSecret: NEW })).rejects.toThrow(
      /^ENCRYPTION_KEY and JWT_SECRET decrypt not all values of webhooks\.\w+: set ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS/,
    );
    await api.stop();
  });

  it('that an earlier version stored as text sign deliveries, and are encrypted by the command', async () => {
    const testStore = await createStore(store);
    const environment = { ...testStore.environment, JWT_SECRET: OLD };
    const api = await startApiOn(environment);
    const headers = await fill(api);
    const secret = `whsec_${'a'.repeat(43)}=`;
    await api.rows.execute('UPDATE webhooks SET secret = :secret', { secret });

    await rotate(api, headers);
    await api.rows.execute('UPDATE webhooks SET secret = :secret', { secret });
    await api.app.close();
    await runCommand('account', ['reencrypt'], { environment });

    const after = await startApiOn(environment);
    expect((await stored(after)).join()).not.toContain(secret);
    await after.app.close();
    await testStore.remove();
  });
});
