import { beforeAll, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { Order } from '../src/orders/order.entity.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { onEach } from './support/on-each.js';
import { recordedEvents } from './support/recorded-changes.js';
import { send } from './support/requests.js';
import { startDuring } from './support/until-blocked.js';

onEach('an order of an account', { settings: { WRITE_ACCESS: 'authenticated' } }, ({ api, store }) => {
  let ada: Record<string, string>;
  let bob: Record<string, string>;
  let staff: Record<string, string>;
  beforeAll(async () => {
    ada = await api.accounts.logInNew('ada@example.com');
    bob = await api.accounts.logInNew('bob@example.com');
    staff = await api.accounts.logInNewStaff();
  });

  const order = (payload: unknown, headers: Record<string, string>) =>
    send(api, 'POST', '/v1/orders', payload, headers);

  it('has an event and an audit entry, which it shares with replays', async () => {
    const payload = '{"b": 1.0,\n "a": 12345678901234567890}';
    const key = { ...ada, 'idempotency-key': 'events' };
    const { id } = (await order(payload, key)).body.data;
    expect((await order(payload, key)).headers['idempotent-replayed']).toBe('true');

    const events = await recordedEvents(api, 'order.created');
    expect(events.map(({ subject }) => subject)).toEqual([`/v1/orders/${id}`]);
    const { body } = await api.get(`/v1/audit?subject=${encodeURIComponent(`/v1/orders/${id}`)}`, staff);
    expect(body.data.map(({ action }: any) => action)).toEqual(['POST /v1/orders']);
  });

  it('is stored by the cache of the caller only, which revalidates it by its entity tag', async () => {
    const made = await order({ item: 'Tea' }, ada);
    const path = made.headers['location']!;
    const found = await api.get(path, ada);
    const tag = found.headers['etag']!;
    const unchanged = await api.get(path, { ...ada, 'if-none-match': tag });

    expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect([made.headers['etag'], unchanged.status, unchanged.text]).toEqual([tag, 304, '']);
    for (const { headers } of [made, found, unchanged]) {
      expect(headers).toMatchObject({
        'cache-control': 'private, no-cache',
        vary: expect.stringMatching(/Authorization, Cookie/),
      });
    }
    const list = await api.get('/v1/orders', ada);
    expect(list.headers['cache-control']).toBe('no-store');
    const orders: Repository<Order> = api.app.get(getRepositoryToken(Order));
    await orders.update({ id: made.body.data.id }, { payload: '{}' });
    expect((await api.get(path, ada)).headers['etag']).not.toBe(tag);
  });

  it('is in the export of the account, and stays without an owner after its deletion', async () => {
    await order({ of: 'bob' }, bob);
    const eve = await api.accounts.logInNew('eve@example.com');
    for (let n = 0; n < 105; n++) await order(`{"n": ${n}.10}`, eve);

    const { body, text } = await api.get('/auth/me/export/', eve);
    const members = ['account', 'api_keys', 'audit', 'identities', 'logins', 'orders', 'passkeys'];
    expect(Object.keys(body).toSorted()).toEqual(members);
    expect(body.orders).toHaveLength(105);
    expect(text).toContain('{"n": 104.10}');
    expect(text).not.toContain('"of"');

    const deletion = await send(api, 'DELETE', '/auth/me/', { password: PASSWORD }, eve);
    expect(deletion).toHaveStatus(204);
    const { id, payload } = body.orders[0];
    expect((await api.get(`/v1/orders/${id}`, staff)).body.data.payload).toEqual(payload);
    expect(await api.get(`/v1/orders/${id}`, ada)).toBeError('NOT_FOUND');
  });

  it('is not created for an account that is deleted meanwhile', async () => {
    const max = await api.accounts.logInNew('max@example.com');
    const { id } = (await api.get('/auth/me/', max)).body;
    const accounts = api.app.get(AccountsService, { strict: false });
    const remove = async () => accounts.remove((await accounts.lock(id))!);
    const before = (await api.get('/v1/orders', staff)).body.meta.total;

    expect(await startDuring([api, store], remove, () => order({}, max))).toBeError('UNAUTHENTICATED');

    expect((await api.get('/v1/orders', staff)).body.meta.total).toBe(before);
  });

  it('is unavailable, and not refused, while its table is lost', async () => {
    await api.rows.execute('ALTER TABLE orders RENAME TO gone');
    const reply = await order({}, ada);
    await api.rows.execute('ALTER TABLE gone RENAME TO orders');

    expect(reply).toBeError('SERVICE_UNAVAILABLE');
  });

  it('is read and created by API keys with the scope for it', async () => {
    const keyOf = async (scope: string) =>
      bearer((await api.post('/auth/api-keys/', { name: 'A', scope }, ada)).body.data.key);
    const [read, write] = [await keyOf('read'), await keyOf('write')];

    expect(await order({}, read)).toBeError('FORBIDDEN');
    const { id } = (await order({}, write)).body.data;
    expect(await api.get(`/v1/orders/${id}`, read)).toHaveStatus(200);
    expect(await api.get(`/v1/orders/${id}`, bob)).toBeError('NOT_FOUND');
  });
});
