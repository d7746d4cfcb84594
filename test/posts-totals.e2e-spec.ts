import { describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { postsOf } from './support/posts.js';
import { STORES } from './support/stores.js';

/** The totals that differ from the number of posts. */
const findTotalFaults = ({ rows }: TestApi) =>
  rows.all(`
    SELECT scope, sum(counted) AS counted, sum(kept) AS kept FROM (
      SELECT 'status=' || status AS scope, count(*) AS counted, 0 AS kept FROM posts GROUP BY status
      UNION ALL SELECT 'author=' || author_id, count(*), 0 FROM posts GROUP BY author_id
      UNION ALL SELECT scope, 0, total FROM post_totals
    ) AS both_ways
    GROUP BY scope HAVING sum(counted) <> sum(kept)`);

const total = async (api: TestApi, search = '') => (await api.get(`/v1/posts?${search}`)).body.meta.total;

describe.each(STORES)('totals of posts on %s', (store) => {
  it('are exact after 200 concurrent creates, updates and deletes', async () => {
    const api = await startApi(store);
    const create = (n: number) =>
      api.post('/v1/posts', { title: 'T', content: 'C', status: n % 8 === 0 ? 'draft' : 'published' });
    const posts = await times(100, (n) => patiently(() => create(n)));
    const changes = [
      (_: string, n: number) => create(n),
      (path: string) => api.patch(path, { status: 'published' }),
      (path: string, n: number) => api.patch(path, { status: n % 3 === 0 ? 'draft' : 'published' }),
      (path: string) => api.delete(path),
    ];

    const replies = await times(200, (n) => {
      const path = `/v1/posts/${posts[n % 100]!.body.data.id}`;
      return patiently(() => changes[n % 4]!(path, n));
    });

    const counts = [201, 200, 204, 404].map(
      (status) => replies.filter((reply) => reply.status === status).length,
    );
    expect(counts).toEqual([50, 100, 25, 25]);

    expect(await findTotalFaults(api)).toEqual([]);
    const counted = await api.rows.all<{ status: string }>('SELECT status FROM posts');
    expect(await total(api)).toBe(counted.length);
    for (const status of ['draft', 'published']) {
      expect(await total(api, `status=${status}`)).toBe(
        counted.filter((row) => row.status === status).length,
      );
    }
    await api.stop();
  });

  it('exclude changes that were rolled back', async () => {
    const api = await startApi(store);
    await postsOf(api).create();

    const failed = api.rows.run(async (manager) => {
      await manager.query('DELETE FROM posts');
      throw new Error('No');
    });

    await expect(failed).rejects.toThrow('No');
    expect(await total(api)).toBe(1);
    await api.stop();
  });
});
