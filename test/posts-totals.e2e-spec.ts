import { describe, expect, it } from '@jest/globals';
import { Database } from '../src/platform/database/database.js';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

/** The totals that differ from the number of posts. */
const findTotalFaults = ({ queries }: Database) =>
  queries.all(`
    SELECT scope, sum(counted) AS counted, sum(kept) AS kept FROM (
      SELECT 'status=' || status AS scope, count(*) AS counted, 0 AS kept FROM posts GROUP BY status
      UNION ALL SELECT 'author=' || author_id, count(*), 0 FROM posts GROUP BY author_id
      UNION ALL SELECT scope, 0, total FROM post_totals
    ) AS both_ways
    GROUP BY scope HAVING sum(counted) <> sum(kept)`);

const total = async (api: TestApi, search = '') => (await api.get(`/v1/posts?${search}`)).body.meta.total;

describe.each(STORES)('totals on %s', (store) => {
  it('are exact after 200 concurrent creates, updates and deletes', async () => {
    const api = await startApi(store);
    const posts = await Promise.all(Array.from({ length: 100 }, () => api.posts.create()));

    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const { id } = posts[n % 100]!;
        if (n % 4 === 0) await api.posts.create({ status: n % 8 === 0 ? 'draft' : 'published' });
        else if (n % 4 === 1) await api.patch(`/v1/posts/${id}`, { status: 'published' });
        else if (n % 4 === 2)
          await api.patch(`/v1/posts/${id}`, { status: n % 3 === 0 ? 'draft' : 'published' });
        else await api.delete(`/v1/posts/${id}`);
      }),
    );

    const database = api.app.get(Database);
    expect(await findTotalFaults(database)).toEqual([]);
    const counted = await database.transactions.run((manager) => manager.query('SELECT status FROM posts'));
    expect(await total(api)).toBe(counted.length);
    for (const status of ['draft', 'published']) {
      expect(await total(api, `status=${status}`)).toBe(
        counted.filter((row: { status: string }) => row.status === status).length,
      );
    }
    await api.stop();
  });

  it('exclude changes that were rolled back', async () => {
    const api = await startApi(store);
    const { transactions } = api.app.get(Database);
    await api.posts.create();

    const failed = transactions.run(async (manager) => {
      await manager.query('DELETE FROM posts');
      throw new Error('No');
    });

    await expect(failed).rejects.toThrow('No');
    expect(await total(api)).toBe(1);
    await api.stop();
  });
});

describe.each(STORES)('the total of users on %s', (store) => {
  const totalOf = async (api: TestApi) => (await api.get('/v2/users')).body.meta.total;

  it('is exact after concurrent creates and deletes, and excludes those that were rolled back', async () => {
    const api = await startApi(store);
    const create = async () => (await api.post('/v1/users', { name: 'Ada' })).body.id as number;
    const ids = await Promise.all(Array.from({ length: 40 }, create));
    await Promise.all([
      ...ids.slice(0, 25).map((id) => api.delete(`/v1/users/${id}`)),
      ...Array.from({ length: 20 }, create),
    ]);
    expect(await totalOf(api)).toBe(36);

    const { transactions } = api.app.get(Database);
    const failed = transactions.run(async (manager) => {
      await manager.query('DELETE FROM users WHERE id > 30');
      throw new Error('No');
    });
    await expect(failed).rejects.toThrow('No');
    await transactions.run((manager) => manager.query('DELETE FROM users WHERE id > 1'));
    expect(await totalOf(api)).toBe(1);
    await api.stop();
  });
});
