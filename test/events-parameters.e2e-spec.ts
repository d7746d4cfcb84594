import { beforeAll, expect, it } from '@jest/globals';
import { FixtureModule } from './support/fixture.module.js';
import { ALL, ListReader, type Row } from './support/list-reader.js';
import { onEach } from './support/on-each.js';
import { shuffle } from './support/shuffle.js';

onEach('all parameters of the feed of events together', { modules: [FixtureModule] }, ({ api }) => {
  beforeAll(async () => {
    const dummies = [];
    for (let n = 0; n < 7; n++) dummies.push(await api.dummies.create({ text: `${(n * 3) % 7}` }));
    for (const n of [3, 0, 5, 1]) await api.patch(`/v1/dummies/${dummies[n]!.id}`, { text: 'Changed' });
    for (const n of [4, 1]) await api.delete(`/v1/dummies/${dummies[n]!.id}`);
    await shuffle(api, 'events');
  });

  it('gives each event once, in order', async () => {
    const ofTypes = (...types: string[]) =>
      [types.join(','), ({ type }: Row) => types.includes(type as string)] as const;
    const types = [
      ['', ALL] as const,
      ofTypes('dummy.updated'),
      ofTypes('dummy.deleted', 'dummy.created'),
      ofTypes('dummy.deleted', 'stub.created'),
      ofTypes('stub.created'),
    ];
    const { found, expected } = await new ListReader(api, '/v1/events').feeds({ types });

    expect(found).toEqual(expected);
    expect(found[0]).toMatchObject({ data: { length: 13 } });
  });
});
