import { expect, it } from '@jest/globals';
import { onEach } from '../../support/on-each.js';
import { TasksV2Module } from './tasks/tasks-v2.module.js';

onEach('tasks of version 2', { modules: [TasksV2Module] }, ({ api }) => {
  it('are those of version 1, which stays as it is', async () => {
    const task = { title: 'a', status: 'done', priority: 1 };
    const { id } = (await api.post('/v1/tasks', task)).body.data;

    expect((await api.get('/v1/tasks')).body.data).toEqual([{ id, ...task }]);
    expect((await api.get('/v2/tasks')).body.data).toEqual([{ id, title: 'a', done: true }]);
    expect((await api.get(`/v2/tasks/${id}`)).body.data).toEqual({ id, title: 'a', done: true });
    expect(await api.get('/v2/tasks/99')).toBeError('NOT_FOUND');
  });
});
