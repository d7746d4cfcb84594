import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from '../../support/api.js';
import { statementsOf } from '../../support/statements.js';
import { STORES } from '../../support/stores.js';
import { StatisticsModule } from './statistics/statistics.module.js';

describe.each(STORES)('statistics on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [StatisticsModule]);
  });
  afterAll(() => api.stop());

  it('of posts are read from the database once per minute', async () => {
    expect((await api.get('/v1/statistics/posts')).body).toEqual({ posts: 0 });
    await api.posts.create();

    const statements = await statementsOf(async () => {
      expect((await api.get('/v1/statistics/posts?again')).body).toEqual({ posts: 0 });
    });
    expect(statements).toEqual([]);
  });

  it('of drafts are limited to two requests per minute', async () => {
    for (const _ of [1, 2]) expect(await api.get('/v1/statistics/drafts')).toHaveStatus(200);

    expect(await api.get('/v1/statistics/drafts')).toBeError('RATE_LIMITED');
  });
});
