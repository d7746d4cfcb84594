import { beforeEach, expect, it } from '@jest/globals';
import { onEach } from '../../support/on-each.js';
import { getRepositoryToken } from '@nestjs/typeorm';
import { Task } from './tasks/task.entity.js';
import { TasksModule } from './tasks/tasks.module.js';

onEach('tasks', { modules: [TasksModule] }, ({ api }) => {
  beforeEach(() => api.app.get(getRepositoryToken(Task), { strict: false }).clear());

  const create = async (title: string, fields: object = {}) =>
    (await api.post('/v1/tasks', { title, status: 'open', ...fields })).body.data;
  const list = async (query: string) => {
    const { data } = (await api.get(`/v1/tasks?${query}`)).body;
    return data.map(({ title }: { title: string }) => title).join(' ');
  };

  it('are filtered, and sorted in the same order on every page', async () => {
    await create('a', { priority: 2 });
    await create('b');
    await create('c', { priority: 1, status: 'done' });
    await create('d', { priority: 2 });

    expect(await list('')).toBe('d c b a');
    expect(await list('sort_by=priority&sort_dir=asc')).toBe('c a d b');
    expect(await list('sort_by=priority')).toBe('d a c b');
    expect(await list('sort_by=title&sort_dir=asc&limit=2&page=2')).toBe('c d');
    expect(await list('status=open&priority=2')).toBe('d a');
  });

  it('are filtered by cursor, and over GraphQL', async () => {
    await create('a', { priority: 2 });
    await create('b');
    await create('c', { priority: 2, status: 'done' });
    await create('d', { priority: 2 });

    const first = (await api.get('/v1/tasks?status=open&priority=2&cursor=&limit=1')).body;
    expect(first).toMatchObject({ data: [{ title: 'a' }], has_next: true });
    expect(await list(`status=open&priority=2&cursor=${first.next_cursor}`)).toBe('d');
    expect(await api.get('/v1/tasks?cursor=x')).toBeError('INVALID_CURSOR');

    const query = `query ($after: String) {
      tasks(status: "open", priority: 2, first: 1, after: $after) {
        totalCount
        nodes { title }
        pageInfo { endCursor hasNextPage }
      }
    }`;
    const newest = (await api.graphql(query)).body.data.tasks;
    expect(newest).toMatchObject({ totalCount: 2, nodes: [{ title: 'd' }], pageInfo: { hasNextPage: true } });
    const { tasks } = (await api.graphql(query, { after: newest.pageInfo.endCursor })).body.data;
    expect(tasks).toMatchObject({ totalCount: 2, nodes: [{ title: 'a' }], pageInfo: { hasNextPage: false } });
    const wrong = await api.graphql('{ tasks(status: "lost") { totalCount } }');
    expect(wrong.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  it.each([
    ['status', 'lost'],
    ['priority', 'high'],
    ['priority', '6'],
    ['sort_by', 'secret'],
    ['sort_dir', 'up'],
  ])('are not listed by %s=%s', async (name, value) => {
    expect(await api.get(`/v1/tasks?${name}=${value}`)).toBeError('VALIDATION_ERROR', [name]);
  });

  it('have a priority that null clears, and a title that it does not', async () => {
    const { id, ...created } = await create('a', { priority: 3 });
    const change = async (fields: object) => (await api.patch(`/v1/tasks/${id}`, fields)).body.data;

    expect(await change({ title: 'b' })).toEqual({ ...created, id, title: 'b' });
    expect(await change({ priority: null })).toEqual({ ...created, id, title: 'b', priority: null });
    expect(await change({ title: null, priority: 1 })).toEqual({ ...created, id, title: 'b', priority: 1 });
    expect(await change({})).toMatchObject({ title: 'b', priority: 1 });
    expect(await api.patch(`/v1/tasks/${id}`, { priority: 6 })).toBeError('VALIDATION_ERROR', ['priority']);
  });
});
