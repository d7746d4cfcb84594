import { expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';

onEach('the total of users', {}, ({ api }) => {
  const total = async () => (await api.get('/v2/users')).body.meta.total;

  it('is exact after concurrent creates and deletes, and excludes those that were rolled back', async () => {
    const create = async () => (await api.post('/v1/users', { name: 'Ada' })).body.id as number;
    const ids = await Promise.all(Array.from({ length: 40 }, create));
    await Promise.all([
      ...ids.slice(0, 25).map((id) => api.delete(`/v1/users/${id}`)),
      ...Array.from({ length: 20 }, create),
    ]);
    expect(await total()).toBe(36);

    const failed = api.rows.run(async (manager) => {
      await manager.query('DELETE FROM users WHERE id > 30');
      throw new Error('No');
    });
    await expect(failed).rejects.toThrow('No');
    await api.rows.run((manager) => manager.query('DELETE FROM users WHERE id > 1'));
    expect(await total()).toBe(1);
  });
});
