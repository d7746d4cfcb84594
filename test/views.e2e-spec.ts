import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Transactions } from '../src/database/transactions.js';
import { ViewCounter } from '../src/posts/view-counter.js';
import { type Post, startApi } from './support/api.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('views on %s', (store) => {
  it('order the list, are written when the process stops, and change nothing else', async () => {
    let api = await startApi(store);
    const posts = [await api.posts.create(), await api.posts.create(), await api.posts.create()];
    const [first, second, third] = posts as [Post, Post, Post];
    await Promise.all(Array.from({ length: 30 }, () => api.posts.get(first.id)));
    await Promise.all(Array.from({ length: 20 }, () => api.posts.get(third.id)));
    await api.get('/v1/posts');
    await api.delete(`/v1/posts/${second.id}`);

    api = await api.restart();

    const { data } = (await api.get('/v1/posts?sort_by=views')).body;
    expect(data).toEqual([first, third]);
    await api.stop();
  });

  it('count GET, and not HEAD', async () => {
    let api = await startApi(store);
    const [first, second] = [await api.posts.create(), await api.posts.create()];
    for (let n = 0; n < 3; n++) await api.send({ method: 'HEAD', url: `/v1/posts/${first.id}` });
    await api.posts.get(second.id);

    api = await api.restart();

    const { data } = (await api.get('/v1/posts?sort_by=views')).body;
    expect(data.map(({ id }: Post) => id)).toEqual([second.id, first.id]);
    await api.stop();
  });

  it('are written outside of the unit of work of the reader', async () => {
    let api = await startApi(store);
    const [first, second] = [await api.posts.create(), await api.posts.create()];
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    const counter = api.app.get(ViewCounter);
    const unit = api.app.get(Transactions).run(async (manager) => {
      await manager.query('UPDATE post_views SET views = views');
      counter.count(first.id);
      await failed;
    });
    // Longer than the flush interval.
    void sleep(3200).then(() => fail(new Error('Taken back')));
    await expect(unit).rejects.toThrow('Taken back');
    await api.posts.get(first.id);
    await api.posts.get(second.id);

    api = await api.restart();

    const { data } = (await api.get('/v1/posts?sort_by=views')).body;
    expect(data.map(({ id }: Post) => id)).toEqual([first.id, second.id]);
    await api.stop();
  }, 20_000);

  it('are all written when the process stops during a flush', async () => {
    let api = await startApi(store);
    // Too many for one statement.
    const count = 500;
    await api.posts.createBy(
      1,
      Array.from({ length: count }, (_, n) => `Post ${n}`),
    );
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const obstacle = api.app.get(Transactions).run(async (manager) => {
      await manager.query('UPDATE post_views SET views = views');
      await released;
    });
    for (let n = 0; n < count; n += 50) {
      const replies = Array.from({ length: 50 }, (_, m) => api.get(`/v1/posts/${n + m + 1}`));
      for (const reply of await Promise.all(replies)) expect(reply).toHaveStatus(200);
    }
    // Longer than the flush interval.
    await sleep(3200);

    const restarting = api.restart();
    release();
    await obstacle;
    api = await restarting;

    const [{ total }] = await api.app
      .get(Transactions)
      .run((manager) => manager.query('SELECT CAST(sum(views) AS bigint) AS total FROM post_views'));
    expect(total).toBe(count);
    await api.stop();
  }, 20_000);

  it('are written at most five seconds after the read', async () => {
    const api = await startApi(store);
    const [first] = [await api.posts.create(), await api.posts.create()];
    await api.posts.get(first.id);

    const top = async () => (await api.get('/v1/posts?sort_by=views&limit=1')).body.data[0].id;
    expect(await top()).not.toBe(first.id);
    const deadline = Date.now() + 5000;
    while (Date.now() < deadline && (await top()) !== first.id) {
      await sleep(100);
    }
    expect(await top()).toBe(first.id);
    await api.stop();
  });
});
