import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Transactions } from '../src/platform/database/transactions.js';
import { startApi, type Post, type TestApi } from './support/api.js';
import { EndlessModule } from './support/endless.module.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('slow reads on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [EndlessModule]);
  });
  afterAll(() => api.stop());

  it('end with 503 after their deadline or when too many wait, and do not block other requests', async () => {
    const { id } = await api.posts.create();
    let ended = 0;
    const slow = Array.from({ length: 80 }, () =>
      api.get('/endless').then((reply) => {
        ended++;
        return reply;
      }),
    );

    expect(await api.get('/health/ready')).toHaveStatus(200);
    expect(await api.get(`/v1/posts/${id}`)).toHaveStatus(200);
    expect(await api.get('/v1/posts')).toHaveStatus(200);
    expect(await api.get('/v1/users')).toHaveStatus(200);
    expect((await api.get('/v2/users')).body.meta.total).toBe(1);
    expect(await api.patch(`/v1/posts/${id}`, { title: 'Changed' })).toHaveStatus(200);
    expect(ended).toBeLessThan(80);

    expect(await api.get('/endless/short')).toBeError('SERVICE_UNAVAILABLE');

    for (const reply of await Promise.all(slow)) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect((await api.get('/v1/posts?q=hang')).body.data).toHaveLength(1);
  });

  it('of one client delay those of another one by one read', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const own = await startApi(store, { TRUST_PROXY: '127.0.0.1' }, [EndlessModule]);
    await own.posts.create();
    const slow = Array.from({ length: 80 }, () => own.get('/endless', from('203.0.113.1')));
    const other = await own.get('/v1/posts?q=title', from('203.0.113.2'));

    expect(other).toHaveStatus(200);
    expect(other.body.meta.total).toBe(1);
    // Those that wait end with the service.
    await Promise.all([own.stop(), ...slow]);
  });

  it('return correct results for deep pages, short texts, and sorting without an index', async () => {
    const titles = Array.from({ length: 1200 }, (_, n) => `${n % 7} of ${n}`);
    await api.posts.createBy(1, titles);
    await api.app.get(Transactions).execute(`UPDATE posts SET status = 'published' WHERE id % 3 = 0`);
    const all: Post[] = [];
    for (let page = 1; page <= 13; page++) {
      all.push(...(await api.get(`/v1/posts?limit=100&page=${page}`)).body.data);
    }
    const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
    const by = (key: 'title' | 'created_at', sign: 1 | -1) => (a: Post, b: Post) =>
      sign * (compare(a[key], b[key]) || compare(a.id, b.id));

    const expectList = async (query: string, expected: Post[]) => {
      const ids: number[] = [];
      for (let page = 1; page <= 13; page++) {
        const { data, meta } = (await api.get(`/v1/posts?limit=100&page=${page}&${query}`)).body;
        expect(meta.total).toBe(expected.length);
        ids.push(...data.map(({ id }: Post) => id));
      }
      expect(ids).toEqual(expected.map(({ id }) => id));
    };
    const published = all.filter(({ status }) => status === 'published');
    await expectList('sort_by=title&sort_dir=asc', all.toSorted(by('title', 1)));
    await expectList('status=published&sort_by=title', published.toSorted(by('title', -1)));
    await expectList(
      'sort_by=views&sort_dir=asc&status=published',
      published.toSorted((a, b) => a.id - b.id),
    );
    await expectList('q=3+', all.filter(({ title }) => title.includes('3 ')).toSorted(by('created_at', -1)));
    const own = (await api.get('/v1/users/1/posts?sort_by=title&limit=100&page=3')).body.data;
    expect(own).toEqual(all.toSorted(by('title', -1)).slice(200, 300));
    const newest = await api.graphql('{ user(id: 1) { posts(page: 12, limit: 100) { id } } }');
    expect(newest.body.data.user.posts.map(({ id }: { id: string }) => Number(id))).toEqual(
      all.slice(1100, 1200).map(({ id }) => id),
    );
  });
});

describe.each(STORES)('large posts on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  const found = async (q: string) =>
    (await api.get(`/v1/posts?q=${encodeURIComponent(q)}&sort_dir=asc`)).body.data.map(({ id }: Post) => id);

  it('are written a few at a time: the excess is rejected with 503, and disconnected clients free their places', async () => {
    await api.app.listen(0, '127.0.0.1');
    const origin = await api.app.getUrl();
    const body = JSON.stringify({ title: 'T', content: 'x'.repeat(100_000) });
    const send = async (signal?: AbortSignal) => {
      const response = await fetch(`${origin}/v1/posts`, { method: 'POST', body, ...(signal && { signal }) });
      await response.arrayBuffer();
      return response.status;
    };

    for (let round = 0; round < 2; round++) {
      const abort = new AbortController();
      const left = Array.from({ length: 40 }, () => send(abort.signal).catch(() => undefined));
      await fetch(`${origin}/health`);
      abort.abort();
      await Promise.all(left);
    }
    const statuses = await Promise.all(Array.from({ length: 100 }, () => send()));
    const created = statuses.filter((status) => status === 201).length;
    expect(created).toBeGreaterThan(0);
    expect(statuses.filter((status) => status === 503)).toHaveLength(100 - created);
    expect(await send()).toBe(201);
  });

  it('are found by their whole text after any change of size', async () => {
    const filler = 'é'.repeat(32_768);
    const small = await api.posts.create({ content: 'a needle' });
    const large = await api.posts.create({ title: 'Large', content: `${filler}a needle` });
    const grown = await api.posts.create({ content: 'a thimble' });
    expect(await found('needle')).toEqual([small.id, large.id]);
    expect(await found('LARGE')).toEqual([large.id]);

    await api.patch(`/v1/posts/${grown.id}`, { content: `a needle${filler}` });
    await api.patch(`/v1/posts/${large.id}`, { content: 'a thimble' });
    expect(await found('needle')).toEqual([small.id, grown.id]);
    expect(await found('thimble')).toEqual([large.id]);

    await api.patch(`/v1/posts/${grown.id}`, { title: 'Grown' });
    await api.delete(`/v1/posts/${small.id}`);
    expect(await found('needle')).toEqual([grown.id]);
    expect(await found('grown')).toEqual([grown.id]);
  });
});
