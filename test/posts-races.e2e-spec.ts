import { Client } from 'pg';
import { expect, it, jest } from '@jest/globals';
import type { PostgresStore } from '../src/platform/config/config.js';
import { startApi } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { onlyFake } from './support/fake-timers.js';
import { onEach } from './support/on-each.js';
import { type Post, postsOf } from './support/posts.js';
import { untilBlocked } from './support/until-blocked.js';

const byText = (a: string, b: string) => (a < b ? -1 : 1);

onEach('concurrent writes of posts', {}, ({ api }) => {
  it('200 creates, a fifth of them invalid, get ids from 1 without gaps or repetitions', async () => {
    const create = (n: number) =>
      api.post('/v1/posts', { title: n % 5 === 0 ? '' : `Post ${n}`, content: 'C' });
    // A 503 must not use up an id either.
    const replies = await times(200, (n) => patiently(() => create(n)));

    const created = replies.filter(({ status }) => status === 201);
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(40);
    expect(created.map(({ body }) => body.data.id).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 160 }, (_, n) => n + 1),
    );
    expect(await postsOf(api).count()).toBe(160);
  });

  it('PATCHes of one post keep updated_at strictly increasing, and lose no field', async () => {
    const { id } = await postsOf(api).create();

    const replies = await times(100, (n) =>
      patiently(() => api.patch(`/v1/posts/${id}`, { title: `Title ${n}` })),
    );

    const moments = replies.map(({ body }) => body.data.updated_at as string).toSorted(byText);
    expect(new Set(moments).size).toBe(100);
    const last: Post = replies.find(({ body }) => body.data.updated_at === moments.at(-1))!.body.data;
    expect(await postsOf(api).get(id)).toEqual(last);
  });

  it('updated_at increases even when the clock goes back', async () => {
    const before = await postsOf(api).create();
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

  it('one of several DELETEs of a post succeeds', async () => {
    const { id } = await postsOf(api).create();

    const replies = await times(20, () => api.delete(`/v1/posts/${id}`));

    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      204,
      ...Array(19).fill(404),
    ]);
  });
});

it('creations of posts that wait for a lock of their author leave no gap', async () => {
  const api = await startApi('PostgreSQL');
  const other = new Client((api.config.store as PostgresStore).url);
  await other.connect();
  await other.query('BEGIN; SELECT FROM users WHERE id = 1 FOR UPDATE');
  const creations = times(8, (n) =>
    api.post('/v1/posts', { title: 'T', content: 'C' }, n % 2 ? { 'idempotency-key': `key-${n}` } : {}),
  );
  await untilBlocked(api, 'PostgreSQL');
  await other.query('COMMIT');

  const ids = (await creations).map(({ body }) => body.data.id);
  expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await other.end();
  await api.stop();
});
