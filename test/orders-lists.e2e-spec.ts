import { describe, expect, it } from '@jest/globals';
import { Order } from '../src/orders/order.entity.js';
import { startApi } from './support/api.js';
import { EndlessModule } from './support/endless.module.js';
import { ListReader } from './support/list-reader.js';
import { onEach } from './support/on-each.js';
import { isOrdered, shuffle } from './support/shuffle.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('lists of orders on %s', (store) => {
  it('wait for other slow reads, not on the event loop', async () => {
    const api = await startApi(store, {}, [EndlessModule]);
    const slow = Array.from({ length: 80 }, () => api.getOnly('/endless'));

    // Counting and skipping orders reads many of them.
    expect(await api.get('/v1/orders')).toBeError('SERVICE_UNAVAILABLE');

    await Promise.all([api.stop(), ...slow]);
  });
});

onEach('deep pages of orders', { settings: { WRITE_ACCESS: 'authenticated' } }, ({ api }) => {
  it('have the orders that the caller may read, and their number', async () => {
    const tokens = await Promise.all(
      ['ada', 'bob'].map((name) => api.accounts.logInNew(`${name}@example.com`)),
    );
    const counts = [1250, 30] as const;
    for (const [n, count] of counts.entries()) {
      const { id } = (await api.get('/auth/me/', tokens[n])).body;
      await api.rows.run((manager) =>
        manager.save(
          Order,
          Array.from({ length: count }, (_, at) => ({
            accountId: id as number,
            status: 'created' as const,
            payload: `{"n":${at}}`,
            createdAt: new Date(Date.UTC(2026, 0, 1) + (at % 100)),
          })),
          { chunk: 100 },
        ),
      );
    }

    const seen: { id: number; created_at: string; payload: { n: number } }[] = [];
    for (let page = 1; page <= 14; page++) {
      const { data, meta } = (await api.get(`/v1/orders?limit=100&page=${page}`, tokens[0])).body;
      expect(meta).toEqual({ total: 1250, page, limit: 100, has_next: page < 13 });
      seen.push(...data);
    }
    expect(new Set(seen.map(({ payload }) => payload.n)).size).toBe(1250);
    const newestFirst = seen.toSorted((a, b) => b.created_at.localeCompare(a.created_at) || b.id - a.id);
    expect(seen.map(({ id }) => id)).toEqual(newestFirst.map(({ id }) => id));
    expect((await api.get('/v1/orders', tokens[1])).body.meta.total).toBe(30);

    await shuffle(api, 'orders');
    const { orders } = (await api.get('/auth/me/export/', tokens[0])).body;
    expect(orders).toHaveLength(1250);
    expect(isOrdered(orders, 'ascending')).toBe(true);
    const { found, expected } = await new ListReader(api, '/v1/orders', tokens[1]).pages({});
    expect(found).toEqual(expected);
    expect(found.length).toBeGreaterThan(12);
  });
});
