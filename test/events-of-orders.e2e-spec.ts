import { expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { send } from './support/requests.js';
import { STORES } from './support/stores.js';

it.each(STORES)('the event of an order is shown to its owner and staff, on %s', async (store) => {
  const api = await startApi(store, { WRITE_ACCESS: 'authenticated' });
  const ada = await api.accounts.logInNew('ada@example.com');
  const bob = await api.accounts.logInNew('bob@example.com');
  const staff = await api.accounts.logInNewStaff();
  const payload = '{"b": 1.0,\n "a": 12345678901234567890}';
  const { id } = (await send(api, 'POST', '/v1/orders', payload, { ...ada, 'idempotency-key': 'k' })).body
    .data;

  const feed = async (headers: Record<string, string>) =>
    api.get('/v1/events?types=order.created&limit=100', headers);
  const subjects = async (headers: Record<string, string>) =>
    (await feed(headers)).body.data.map(({ subject }: any) => subject);
  expect(await subjects(ada)).toEqual([`/v1/orders/${id}`]);
  expect(await subjects(staff)).toEqual([`/v1/orders/${id}`]);
  expect([await subjects(bob), await subjects({})]).toEqual([[], []]);
  expect((await feed(ada)).text).toContain('"payload":{"b": 1.0,  "a": 12345678901234567890}');
  await api.stop();
});
