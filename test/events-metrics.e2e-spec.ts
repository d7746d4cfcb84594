import { expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { EventClient } from './support/events-client.js';
import { scrape } from './support/scrape.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

it.each(STORES)('metrics report open streams on %s', async (store) => {
  const api = await startApi(store, { METRICS_PORT: '0' });
  const url = await api.listen();
  const consumers = async () => (await scrape(api)).get('event_consumers');
  const streams = [
    await EventClient.open(`${url}/v1/events/stream`),
    await EventClient.open(`${url}/v1/events/stream`),
  ];

  expect(await consumers()).toBe(2);
  expect((await scrape(api)).get('event_consumers_max')).toBe(1000);
  streams[0]!.close();
  await until('one has ended', async () => (await consumers()) === 1);
  streams[1]!.close();
  await until('both have ended', async () => (await consumers()) === 0);
  await api.stop();
});
