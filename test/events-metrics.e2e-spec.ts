import { expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { EventClient } from './support/events-client.js';
import { scrape } from './support/scrape.js';
import { STORES } from './support/stores.js';
import { Subscriber } from './support/subscriber.js';
import { until } from './support/until.js';

it.each(STORES)('metrics report open streams and subscriptions on %s', async (store) => {
  const api = await startApi(store, { METRICS_PORT: '0', GRAPHQL_SUBSCRIPTIONS: 'on' });
  const url = await api.listen();
  const consumers = async (kind: string) => (await scrape(api)).get(`event_consumers{kind="${kind}"}`);
  const stream = await EventClient.open(`${url}/v1/events/stream`);
  const client = new Subscriber(url);
  client.start('subscription { events { id } }');

  await until('both are open', async () => (await consumers('subscription')) === 1);
  expect(await consumers('stream')).toBe(1);
  expect((await scrape(api)).get('event_consumers_max')).toBe(1000);
  stream.close();
  await client.end();
  await until('both have ended', async () => {
    return (await consumers('subscription')) === 0 && (await consumers('stream')) === 0;
  });
  await api.stop();
});
