import { AsyncResource } from 'node:async_hooks';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ViewCounter } from '../src/posts/view-counter.js';
import { startApi } from './support/api.js';
import { onlyFake } from './support/fake-timers.js';
import { type Post, postsOf } from './support/posts.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

/** Moves the timers, after some views, by the longest time until they are written. */
function flushAfter<T>(view: () => Promise<T>): Promise<T>;
function flushAfter(view: () => void): void;
function flushAfter(view: () => unknown): unknown {
  jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
  // Timers of Node.js keep the context that they were set in, such as a unit of work; fake ones would lose it.
  const { setTimeout: fake } = globalThis;
  globalThis.setTimeout = ((callback: () => void, delay: number) =>
    fake(AsyncResource.bind(callback), delay)) as unknown as typeof fake;
  const flush = () => {
    jest.advanceTimersByTime(5000);
    jest.useRealTimers();
  };
  const viewed = view();
  if (viewed instanceof Promise) return viewed.finally(flush);
  flush();
  return undefined;
}

describe.each(STORES)('views on %s', (store) => {
  it('order the list, are written when the process stops, and change nothing else', async () => {
    let api = await startApi(store);
    const posts = [await postsOf(api).create(), await postsOf(api).create(), await postsOf(api).create()];
    const [first, second, third] = posts as [Post, Post, Post];
    await Promise.all(Array.from({ length: 30 }, () => postsOf(api).get(first.id)));
    await Promise.all(Array.from({ length: 20 }, () => postsOf(api).get(third.id)));
    await api.get('/v1/posts');
    await api.delete(`/v1/posts/${second.id}`);

    await api.restart();

    const { data } = (await api.get('/v1/posts?sort_by=views')).body;
    expect(data).toEqual([first, third]);
    await api.stop();
  });

  it('count GET, and not HEAD', async () => {
    let api = await startApi(store);
    const [first, second] = [await postsOf(api).create(), await postsOf(api).create()];
    for (let n = 0; n < 3; n++) await api.send({ method: 'HEAD', url: `/v1/posts/${first.id}` });
    await postsOf(api).get(second.id);

    await api.restart();

    const { data } = (await api.get('/v1/posts?sort_by=views')).body;
    expect(data.map(({ id }: Post) => id)).toEqual([second.id, first.id]);
    await api.stop();
  });

  it('are written outside of the unit of work of the reader', async () => {
    let api = await startApi(store);
    const [first, second] = [await postsOf(api).create(), await postsOf(api).create()];
    const counter = api.app.get(ViewCounter);
    const unit = api.rows.run(async (manager) => {
      await manager.query('UPDATE post_views SET views = views');
      flushAfter(() => counter.count(first.id));
      // A flush within this transaction would be taken back with it.
      for (let n = 0; n < 10; n++) await manager.query('SELECT 1');
      throw new Error('Taken back');
    });
    await expect(unit).rejects.toThrow('Taken back');
    await postsOf(api).get(first.id);
    await postsOf(api).get(second.id);

    await api.restart();

    const { data } = (await api.get('/v1/posts?sort_by=views')).body;
    expect(data.map(({ id }: Post) => id)).toEqual([first.id, second.id]);
    await api.stop();
  });

  it.each([
    ['a flush', 0],
    ['a flush that fails', 1],
  ])('are all written when the process stops during %s', async (_what, failures) => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const warnings = () =>
      warn.mock.calls.filter(([{ msg }]) => msg?.startsWith('Views could not be written'));
    let api = await startApi(store);
    // Too many for one statement.
    const count = 500;
    await postsOf(api).createBy(
      1,
      Array.from({ length: count }, (_, n) => `Post ${n}`),
    );
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const obstacle = api.rows.run(async (manager) => {
      await manager.query('UPDATE post_views SET views = views');
      lock();
      await released;
    });
    // The numbering of the events of so many posts may have the writer, and the timers move below.
    await locked;
    await flushAfter(async () => {
      for (let n = 0; n < count; n += 50) {
        const replies = Array.from({ length: 50 }, (_, m) => api.get(`/v1/posts/${n + m + 1}`));
        for (const reply of await Promise.all(replies)) expect(reply).toHaveStatus(200);
      }
    });

    const restarting = api.restart();
    await until('the flush has failed as often', () => warnings().length === failures);
    release();
    await obstacle;
    await restarting;

    const [{ total }] = await api.rows.run((manager) =>
      manager.query('SELECT CAST(sum(views) AS bigint) AS total FROM post_views'),
    );
    expect(total).toBe(count);
    expect(warnings()).toHaveLength(failures);
    warn.mockRestore();
    await api.stop();
  });

  it('that cannot be written do not disturb the stop of the process', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const api = await startApi(store);
    await postsOf(api).get((await postsOf(api).create()).id);
    await api.rows.execute('ALTER TABLE post_views RENAME TO away');
    await api.stop();

    const failures = warn.mock.calls.filter(([{ msg }]) => msg?.startsWith('Views could not be written'));
    expect(failures).toHaveLength(1);
    warn.mockRestore();
  });

  it('are written at most five seconds after the read, also after others were written', async () => {
    const api = await startApi(store);
    const [first, second] = [await postsOf(api).create(), await postsOf(api).create()];
    const top = async () => (await api.get('/v1/posts?sort_by=views&limit=1')).body.data[0].id;
    expect(await top()).not.toBe(first.id);
    await flushAfter(() => postsOf(api).get(first.id));
    await until('the view is written', async () => (await top()) === first.id);
    await flushAfter(() => postsOf(api).get(second.id));
    await until('the next view is written', async () => (await top()) === second.id);
    await api.stop();
  });
});
