import { expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { type Dummy as DummyBody } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { FixtureModule } from './support/fixture.module.js';
import { Dummy } from './support/fixture/dummy.entity.js';
import { onEach } from './support/on-each.js';

onEach('concurrent requests', { modules: [FixtureModule] }, ({ api }) => {
  it('200 creates, a fifth of them invalid, get ids from 1 without gaps or repetitions', async () => {
    const create = (n: number) => api.post('/v1/dummies', { text: n % 5 === 0 ? '' : `Dummy ${n}` });
    // A 503 must not use up an id either.
    const replies = await times(200, (n) => patiently(() => create(n)));

    const created = replies.filter(({ status }) => status === 201);
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(40);
    expect(created.map(({ body }) => body.data.id).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 160 }, (_, n) => n + 1),
    );
    expect(await api.dummies.count()).toBe(160);
  });

  it('an acknowledged write survives the rollback of a concurrent transaction', async () => {
    const { id } = await api.dummies.create();
    const before = await api.dummies.count();

    const outcomes = await times(40, async (n) => {
      if (n % 2 === 0) return api.dummies.create({ text: `Kept ${n}` });
      return api.rows
        .run(async (manager) => {
          await manager.increment(Dummy, { id }, 'counter', 1_000_000);
          await new Promise((resolve) => setTimeout(resolve, 5));
          await manager.query('SELECT * FROM no_such_table');
        })
        .then(
          () => 'committed',
          () => 'failed',
        );
    });

    expect(outcomes.filter((outcome) => outcome === 'failed')).toHaveLength(20);
    const kept = outcomes.filter((outcome): outcome is DummyBody => typeof outcome === 'object');
    expect(kept).toHaveLength(20);
    for (const dummy of kept) expect(await api.dummies.get(dummy.id)).toEqual(dummy);
    expect(await api.dummies.count()).toBe(before + 20);
    expect((await api.dummies.get(id)).counter).toBe(0);
  });

  it('units of work that deadlock all succeed', async () => {
    const [a, b] = [await api.dummies.create(), await api.dummies.create()];
    const bump = (id: number) => async (manager: EntityManager) => {
      await manager.increment(Dummy, { id }, 'counter', 1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      await manager.increment(Dummy, { id: id === a.id ? b.id : a.id }, 'counter', 1);
    };

    // The opposite order causes a deadlock on PostgreSQL.
    await times(2, (n) => api.rows.run(bump(n % 2 === 0 ? a.id : b.id)));

    for (const { id } of [a, b]) expect((await api.dummies.get(id)).counter).toBe(2);
  });

  it('one of several DELETEs of a dummy succeeds', async () => {
    const { id } = await api.dummies.create();

    const replies = await times(20, () => api.delete(`/v1/dummies/${id}`));

    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      204,
      ...Array(19).fill(404),
    ]);
  });
});
