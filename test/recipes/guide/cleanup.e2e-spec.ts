import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { startApi, type TestApi } from '../../support/api.js';
import { STORES } from '../../support/stores.js';
import { CleanupModule, DraftCleanup } from './cleanup/cleanup.module.js';

const DAY = 24 * 60 * 60 * 1000;

describe.each(STORES)('old drafts on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [CleanupModule]);
  });
  afterAll(() => api.stop());

  it('are deleted every night after 30 days', async () => {
    const draft = await api.posts.create({ status: 'draft' });
    const published = await api.posts.create({ status: 'published' });
    expect(api.app.get(SchedulerRegistry).getCronJob('draft-cleanup').isActive).toBe(true);

    const cleanup = api.app.get(DraftCleanup);
    api.moveClock(29 * DAY);
    await cleanup.run();
    expect(await api.posts.count()).toBe(2);

    api.moveClock(31 * DAY);
    await cleanup.run();
    expect((await api.get('/v1/posts')).body.data).toEqual([published]);
    const { data } = (await api.get('/v1/events?types=post.deleted')).body;
    expect(data).toMatchObject([{ subject: `/v1/posts/${draft.id}`, data: { id: draft.id } }]);
  });
});
