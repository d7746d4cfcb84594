import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { bearer, startApiOn, type TestApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { Receiver } from './support/receiver.js';
import { describeStoredSecrets, ENCRYPTED } from './support/stored-secrets.js';
import { createStore, STORES } from './support/stores.js';

const EMAIL = 'staff@example.com';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
});
afterAll(() => receiver.stop());

const post = async (api: TestApi, path: string, body: object = {}) => {
  const headers = bearer((await api.accounts.login(EMAIL)).access);
  return (await api.post(path, body, headers)).body.data;
};

/** Creates the webhook 1. @returns its secret */
async function create(api: TestApi): Promise<string> {
  await api.accounts.logInNewStaff(EMAIL);
  return (await post(api, '/v1/webhooks', { url: receiver.url, types: ['*'] })).secret;
}

/** Sends a test event, and verifies its signature. */
async function verify(api: TestApi, ...secrets: string[]): Promise<void> {
  const before = receiver.delivered.length;
  await post(api, '/v1/webhooks/1/test');
  const { body, headers } = (await receiver.at('/', before + 1)).at(-1)!;
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers as any)).toBeTruthy();
}

const stored = async (api: TestApi): Promise<string[]> =>
  (await api.rows.all<any>('SELECT secret, replaced_secrets FROM webhooks')).flatMap((row) =>
    Object.values<string>(row),
  );

let current: string;
describeStoredSecrets('the stored secrets of webhooks', {
  fill: async (api) => {
    const replaced = await create(api);
    current = (await post(api, '/v1/webhooks/1/rotate-secret')).secret;
    return replaced;
  },
  use: (api, replaced) => verify(api, replaced, current),
  stored,
  count: 2,
  columns: String.raw`webhooks\.\w+`,
});

it.each(STORES)(
  'secrets of webhooks that an earlier version stored as text sign, and are encrypted by the command, on %s',
  async (store) => {
    const { environment, ...testStore } = await createStore(store);
    const api = await startApiOn(environment);
    await create(api);
    const secret = `whsec_${'a'.repeat(43)}=`;
    await api.rows.execute('UPDATE webhooks SET secret = :secret', { secret });

    await verify(api, secret);
    await api.app.close();
    expect((await runCommand('account', ['reencrypt'], { environment })).code).toBe(0);

    const after = await startApiOn(environment);
    expect((await stored(after))[0]).toMatch(ENCRYPTED);
    await verify(after, secret);
    await after.app.close();
    await testStore.remove();
  },
);
