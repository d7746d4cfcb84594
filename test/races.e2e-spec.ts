import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Transactions } from '../src/platform/database/transactions.js';
import { PostViews } from '../src/posts/post-views.entity.js';
import { onlyFake } from './support/fake-timers.js';
import { type Post, type Reply, startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

const byText = (a: string, b: string) => (a < b ? -1 : 1);

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

describe.each(STORES)('concurrent requests on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  it('200 creates, a fifth of them invalid, get ids from 1 without gaps or repetitions', async () => {
    const create = async (n: number, attempts = 3): Promise<Reply> => {
      const reply = await api.post('/v1/posts', { title: n % 5 === 0 ? '' : `Post ${n}`, content: 'C' });
      // On a busy machine, some wait too long for a connection. They are repeated, and must not use up an id either.
      return reply.status === 503 && attempts > 1 ? create(n, attempts - 1) : reply;
    };
    const replies = await times(200, (n) => create(n));

    const created = replies.filter(({ status }) => status === 201);
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(40);
    expect(created.map(({ body }) => body.data.id).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 160 }, (_, n) => n + 1),
    );
    expect(await api.posts.count()).toBe(160);
  });

  it('PATCHes of one post keep updated_at strictly increasing, and lose no field', async () => {
    const { id } = await api.posts.create();

    const replies = await times(100, (n) => api.patch(`/v1/posts/${id}`, { title: `Title ${n}` }));

    const moments = replies.map(({ body }) => body.data.updated_at as string).toSorted(byText);
    expect(new Set(moments).size).toBe(100);
    const last: Post = replies.find(({ body }) => body.data.updated_at === moments.at(-1))!.body.data;
    expect(await api.posts.get(id)).toEqual(last);
  });

  it('updated_at increases even when the clock goes back', async () => {
    const before = await api.posts.create();
    jest.useFakeTimers({ now: 0, ...onlyFake('Date') });
    try {
      for (const step of [1, 2, 3]) {
        const { updated_at } = (await api.patch(`/v1/posts/${before.id}`, {})).body.data;
        expect(Date.parse(updated_at) - Date.parse(before.updated_at)).toBe(step);
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('an acknowledged write survives the rollback of a concurrent transaction', async () => {
    const transactions = api.app.get(Transactions);
    const before = await api.posts.count();

    const outcomes = await times(40, async (n) => {
      if (n % 2 === 0) return api.posts.create({ title: `Kept ${n}` });
      return transactions
        .run(async (manager) => {
          await manager.increment(PostViews, { postId: 1 }, 'views', 1_000_000);
          await new Promise((resolve) => setTimeout(resolve, 5));
          await manager.query('SELECT * FROM no_such_table');
        })
        .then(
          () => 'committed',
          () => 'failed',
        );
    });

    expect(outcomes.filter((outcome) => outcome === 'failed')).toHaveLength(20);
    const kept = outcomes.filter((outcome): outcome is Post => typeof outcome === 'object');
    expect(kept).toHaveLength(20);
    for (const post of kept) expect(await api.posts.get(post.id)).toEqual(post);
    expect(await api.posts.count()).toBe(before + 20);
    const [{ views }] = await transactions.run((manager) =>
      manager.query('SELECT views FROM post_views WHERE post_id = 1'),
    );
    expect(views).toBeLessThan(1_000_000);
  });

  it('units of work that deadlock all succeed', async () => {
    const transactions = api.app.get(Transactions);
    const [a, b] = [await api.posts.create(), await api.posts.create()];
    const bump = (id: number) => async (manager: Parameters<Parameters<Transactions['run']>[0]>[0]) => {
      await manager.increment(PostViews, { postId: id }, 'views', 1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      await manager.increment(PostViews, { postId: id === a.id ? b.id : a.id }, 'views', 1);
    };

    // The opposite order causes a deadlock on PostgreSQL.
    await times(2, (n) => transactions.run(bump(n % 2 === 0 ? a.id : b.id)));

    const rows = await transactions.run((manager) =>
      manager.query(`SELECT views FROM post_views WHERE post_id IN (${a.id}, ${b.id})`),
    );
    expect(rows).toEqual([{ views: 2 }, { views: 2 }]);
  });

  it('one of several DELETEs of a post succeeds', async () => {
    const { id } = await api.posts.create();

    const replies = await times(20, () => api.delete(`/v1/posts/${id}`));

    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      204,
      ...Array(19).fill(404),
    ]);
  });
});
