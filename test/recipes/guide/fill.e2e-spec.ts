import { beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { onEach } from '../../support/on-each.js';
import { FillModule, TaskUrgencyFill } from './fill/fill.module.js';
import { TasksModule } from './tasks/tasks.module.js';

onEach('tasks.urgency', { modules: [TasksModule, FillModule] }, ({ api }) => {
  let fill: TaskUrgencyFill;
  beforeAll(async () => {
    fill = api.app.get(TaskUrgencyFill);
    const numbers = 'SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500';
    await query(`WITH RECURSIVE numbers AS (${numbers})
      INSERT INTO tasks (title, status, priority) SELECT 'a', 'open', n % 5 + 1 FROM numbers`);
  });

  const query = (sql: string) => api.app.get(DataSource).query(sql);
  const countFilled = async () => {
    const [row] = await query('SELECT count(*) AS n FROM tasks WHERE urgency = priority');
    return Number(row.n);
  };

  it('is filled in batches, each of them once, also by several processes', async () => {
    expect(await fill.next()).toBe(1000);
    expect(await countFilled()).toBe(1000);

    const ends = [await fill.next(), ...(await Promise.all([fill.next(), fill.next()]))];
    expect(ends.filter((end) => end !== undefined && end < 2500)).toEqual([2000]);
    await fill.next();
    expect(await countFilled()).toBe(2500);
    expect(await fill.next()).toBe(2500);
  });

  it('is filled later for rows that were created later', async () => {
    const task = { title: 'b', status: 'open', priority: 1 };
    await api.post('/v1/tasks', task);

    expect(await fill.next()).toBe(2501);
    expect(await countFilled()).toBe(2501);
  });
});
