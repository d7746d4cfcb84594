import { describe, expect, it } from '@jest/globals';
import { killAtCommit } from '../support/kill-at-commit.js';
import { Receiver } from '../support/receiver.js';
import { STORES } from '../support/stores.js';
import { Webhooks } from '../support/webhooks.js';

describe.each(STORES)('a kill -9 just after the commit of a write on %s', (store) => {
  it('does not lose its delivery', async () => {
    const receiver = await new Receiver().start();
    const checked = killAtCommit(
      store,
      { path: '/v1/dummies', body: { text: 'Once' }, statement: 'INSERT INTO "?dummies' },
      async (api) => (await Webhooks.of(api, receiver)).create(),
      (_, webhook) => receiver.at(webhook.path, 1),
    );
    await expect(checked).resolves.toBeUndefined();
    await receiver.stop();
  });
});
