import { describe, expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('WRITE_ACCESS on %s', (store) => {
  it.each(['authenticated', 'staff'])(
    '=%s refuses anonymous changes, and lets everyone read',
    async (mode) => {
      const api = await startApi(store, { WRITE_ACCESS: mode });

      expect(await api.post('/v1/posts', { title: 'T', content: 'C' })).toBeError('UNAUTHENTICATED');
      expect(await api.post('/v1/posts', '{broken')).toBeError('UNAUTHENTICATED');
      expect(await api.patch('/v1/posts/abc', {})).toBeError('UNAUTHENTICATED');
      expect(await api.delete('/v1/posts/1')).toBeError('UNAUTHENTICATED');
      expect(await api.get('/v1/posts')).toHaveStatus(200);
      expect(await api.send({ method: 'HEAD', url: '/v1/posts' })).toHaveStatus(200);
      expect(await api.posts.count()).toBe(0);
      await api.stop();
    },
  );

  it('=open does not look at credentials', async () => {
    const api = await startApi(store);

    for (const authorization of ['Bearer garbage', 'Basic x', 'Bearer']) {
      const reply = await api.post('/v1/posts', { title: 'T', content: 'C' }, { authorization });
      expect(reply).toHaveStatus(201);
    }
    await api.stop();
  });
});
