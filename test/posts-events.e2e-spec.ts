import { expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';
import { until } from './support/until.js';

onEach('events of posts', {}, ({ api }) => {
  const types = 'post.created,post.updated,post.published,post.unpublished,post.deleted';
  const all = async (): Promise<any[]> => (await api.get(`/v1/events?types=${types}&limit=100`)).body.data;

  /** Waits for events of earlier changes: on PostgreSQL, transactions of other tests delay them. */
  async function untilAll(count: number): Promise<any[]> {
    await until('the events are shown', async () => (await all()).length >= count);
    return all();
  }

  it('are one for each change, with the post after the change', async () => {
    const post = await postsOf(api).create({ title: 'First "quoted"\n\u2028 ü', status: 'draft' });
    const changes = [
      { title: 'Second' },
      { status: 'published' },
      { status: 'published' },
      { status: 'draft' },
      {},
    ];
    const views = [post];
    for (const change of changes) views.push((await api.patch(`/v1/posts/${post.id}`, change)).body.data);
    await api.delete(`/v1/posts/${post.id}`);

    const events = await untilAll(7);

    expect(events.map(({ subject }) => subject)).toEqual(Array(7).fill(`/v1/posts/${post.id}`));
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['post.created', views[0]],
      ['post.updated', views[1]],
      ['post.published', views[2]],
      ['post.updated', views[3]],
      ['post.unpublished', views[4]],
      ['post.updated', views[5]],
      ['post.deleted', { id: post.id }],
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it.each([
    ['an invalid post', 'VALIDATION_ERROR', () => api.post('/v1/posts', { title: '' })],
    ['a post that does not exist', 'NOT_FOUND', () => api.patch('/v1/posts/999999', { status: 'published' })],
    ['the deletion of a post that does not exist', 'NOT_FOUND', () => api.delete('/v1/posts/999999')],
    [
      'a failed precondition',
      'PRECONDITION_FAILED',
      (id: number) => api.patch(`/v1/posts/${id}`, { title: 'x' }, { 'if-match': '"0-x"' }),
    ],
  ] as const)('are none for %s', async (_, code, send) => {
    const { id } = await postsOf(api).create();
    await until('its event is shown', async () => (await all()).at(-1)?.data.id === id);
    const before = await all();
    expect(await send(id)).toBeError(code);
    expect(await all()).toEqual(before);
  });

  it('have large posts in full', async () => {
    const content = 'ä'.repeat(200_000);
    const post = await postsOf(api).create({ content });
    const { id } = await postsOf(api).create();
    await until('the events are shown', async () => (await all()).at(-1)?.data.id === id);
    const events = (await all()).slice(-2);
    expect(events.map(({ data }) => data.content.length)).toEqual([content.length, 12]);
    expect(events[0].data.content === post.content).toBe(true);
  });
});
