import { beforeAll, expect, it } from '@jest/globals';
import { FixtureModule } from './support/fixture.module.js';
import { ALL, ListReader, type Row } from './support/list-reader.js';
import { onEach } from './support/on-each.js';
import { Receiver } from './support/receiver.js';
import { shuffle } from './support/shuffle.js';
import { until } from './support/until.js';
import { pathOf, type TestWebhook, Webhooks } from './support/webhooks.js';

const servers = { receiver: () => new Receiver() };
const OPTIONS = { modules: [FixtureModule], servers };
onEach('all parameters of the deliveries of a webhook together', OPTIONS, ({ api, receiver }) => {
  let webhooks: Webhooks;
  let three: TestWebhook[];

  beforeAll(async () => {
    webhooks = await Webhooks.of(api, receiver);
    three = [];
    for (let n = 0; n < 3; n++) three.push(await webhooks.create({ types: ['*'] }));
    for (let n = 0; n < 12; n++) await api.dummies.create();
    for (const webhook of three)
      await until('all is delivered', async () => {
        const deliveries = await webhooks.deliveries(webhook, '?limit=100');
        return deliveries.length === 12 && deliveries.every(({ status }) => status === 'delivered');
      });
    await api.rows.execute(
      `UPDATE webhook_deliveries SET status = CASE id % 3 WHEN 0 THEN 'failed' ELSE 'pending' END,
         next_attempt_at = '2999-01-01' WHERE id % 3 <> 1`,
    );
    await shuffle(api, 'webhook_deliveries');
  });

  it('gives each delivery once, the newest first', async () => {
    const ofStatus = (status: string) => [status, (row: Row) => row['status'] === status] as const;
    const status = [['', ALL] as const, ...['pending', 'delivered', 'failed'].map(ofStatus)];
    for (const webhook of three) {
      const list = new ListReader(api, `${pathOf(webhook)}/deliveries`, webhooks.staff);
      const { found, expected } = await list.feeds({ status });
      expect(found).toEqual(expected);
      expect(found[0]).toMatchObject({ data: { length: 12 } });
    }
  });
});
