import { expect, it } from '@jest/globals';
import { bearer, startApiOn, type TestApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { describeStoredSecrets } from './support/stored-secrets.js';
import { createStore, STORES } from './support/stores.js';

const EMAIL = 'staff@example.com';

/** Creates a webhook. */
async function fill(api: TestApi): Promise<void> {
  const headers = await api.accounts.newStaff(EMAIL);
  const reply = await api.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', types: ['*'] }, headers);
  expect(reply).toHaveStatus(201);
}

/** Replaces the secret of the webhook, and keeps it as a replaced one. @returns the new one */
async function rotate(api: TestApi): Promise<string> {
  const headers = bearer((await api.accounts.login(EMAIL)).access);
  const reply = await api.post('/v1/webhooks/1/rotate-secret', {}, headers);
  expect(reply).toHaveStatus(200);
  return reply.body.data.secret;
}

const stored = async (api: TestApi): Promise<string[]> =>
  (await api.rows.all<any>('SELECT secret, replaced_secrets FROM webhooks')).flatMap((row) =>
    Object.values<string>(row),
  );

describeStoredSecrets('the stored secrets of webhooks', {
  fill: async (api) => {
    await fill(api);
    const secret = await rotate(api);
    await rotate(api);
    return secret;
  },
  use: rotate,
  stored,
  count: 2,
  columns: String.raw`webhooks\.\w+`,
});

it.each(STORES)(
  'secrets of webhooks that an earlier version stored as text are used, and encrypted by the command, on %s',
  async (store) => {
    const { environment, ...testStore } = await createStore(store);
    const api = await startApiOn(environment);
    await fill(api);
    const secret = `whsec_${'a'.repeat(43)}=`;
    const storeAsText = () => api.rows.execute('UPDATE webhooks SET secret = :secret', { secret });

    await storeAsText();
    await rotate(api);
    await storeAsText();
    await api.app.close();
    await runCommand('account', ['reencrypt'], { environment });

    const after = await startApiOn(environment);
    expect((await stored(after)).join()).not.toContain(secret);
    await after.app.close();
    await testStore.remove();
  },
);
