import { afterAll, beforeAll, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { bearer } from './support/accounts.js';
import type { TestApi } from './support/api.js';
import { Receiver } from './support/receiver.js';
import { describeStoredSecrets } from './support/stored-secrets.js';
import { until } from './support/until.js';

const EMAIL = 'staff@example.com';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await new Receiver().start();
});
afterAll(() => receiver.stop());

const asStaff = async (api: TestApi) => bearer((await api.accounts.login(EMAIL)).access);
const post = async (api: TestApi, path: string, body: object = {}) =>
  (await api.post(path, body, await asStaff(api))).body.data;

const isUnreadable = (entry: any): boolean => /^A value of webhooks\.\w+ is /.test(entry?.err?.message ?? '');

let current: string;
describeStoredSecrets('the stored secrets of webhooks', {
  fill: async (api) => {
    await api.accounts.logInNewStaff(EMAIL);
    const { secret: replaced } = await post(api, '/v1/webhooks', { url: receiver.url, types: ['*'] });
    current = (await post(api, '/v1/webhooks/1/rotate-secret')).secret;
    return replaced;
  },
  /** Sends a test event, and verifies its signatures. */
  works: async (api, replaced) => {
    const before = receiver.delivered.length;
    await post(api, '/v1/webhooks/1/test');
    const { body, headers } = (await receiver.at('/', before + 1)).at(-1)!;
    // It throws if no signature is of the secret.
    for (const secret of [replaced, current]) new Webhook(secret).verify(body, headers as any);
    return true;
  },
  fails: async (api) => {
    const before = receiver.delivered.length;
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await post(api, '/v1/webhooks/1/test');
    await until('the log says why', () => warn.mock.calls.some(([entry]) => isUnreadable(entry)));
    warn.mockRestore();
    const { body } = await api.get('/v1/webhooks/1/deliveries', await asStaff(api));
    const { status, attempts, error } = body.data[0];
    const isWaiting = status === 'pending' && attempts === 0 && error === null;
    return isWaiting && receiver.delivered.length === before;
  },
  table: 'webhooks',
  columns: ['secret', 'replaced_secrets'],
});
