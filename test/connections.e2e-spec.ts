import { beforeAll, expect, it } from '@jest/globals';
import { ClassSerializerInterceptor, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { startApi } from './support/api.js';
import { ConnectionReader, cursorOf, testConnection } from './support/connection.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';

/** As Nest's documentation on serialization shows it. */
@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }] })
class SerializingModule {}

onEach('connections', { modules: [FixtureModule] }, ({ api, store }) => {
  beforeAll(async () => {
    for (let n = 0; n < 14; n++)
      await api.dummies.create({ text: `Text ${n}`, status: n % 3 ? 'open' : 'done', counter: n % 2 });
  });

  it('pass a global ClassSerializerInterceptor, which reads all properties', async () => {
    const serializing = await startApi(store, {}, [FixtureModule, SerializingModule]);
    await serializing.dummies.create({ text: 'A' });
    await serializing.dummies.create({ text: 'B' });

    const { body } = await serializing.graphql(
      '{ dummies(first: 1) { totalCount nodes { text } edges { cursor node { text } } pageInfo { hasNextPage endCursor } } }',
    );
    const [{ cursor }] = body.data.dummies.edges;
    expect(body).toEqual({
      data: {
        dummies: {
          totalCount: 2,
          nodes: [{ text: 'B' }],
          edges: [{ cursor, node: { text: 'B' } }],
          pageInfo: { hasNextPage: true, endCursor: cursor },
        },
      },
    });
    await serializing.stop();
  });

  const dummies = {
    list: 'dummies',
    one: 'dummy',
    object: 'first',
    children: 'peers',
    text: 'text',
    variables: '$status: DummyStatus',
    cursor: ['dummies', 1],
    create: () => api.dummies.create(),
  } as const;
  const reader = new ConnectionReader(() => api, dummies);

  it.each([1, 3, 13, 14, 100])('have every row once, in pages of %i', async (first) => {
    expect(await reader.all({ first })).toEqual(await reader.overRest());
  });

  it('are filtered', async () => {
    expect(await reader.all({ first: 2, status: 'done' })).toEqual(await reader.overRest('status=done'));
    expect(await reader.all({ first: 2, q: 'xt 1' })).toEqual(await reader.overRest('q=xt+1'));
    expect((await reader.page({ status: 'done' })).totalCount).toBe(5);
  });

  it('continue after a row that was deleted, and are not shifted by new rows', async () => {
    const before = await reader.overRest();
    const created: number[] = [];
    const seen = await reader.all({ first: 3 }, async (number) => {
      created.push((await api.dummies.create()).id);
      // The last row of the page that was read.
      if (number === 1) await api.delete(`/v1/dummies/${before[2]}`);
    });

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(before);
    for (const id of created) await api.delete(`/v1/dummies/${id}`);
  });

  testConnection(() => api, dummies);

  it('accept a position that no row has', async () => {
    expect((await reader.page({ after: cursorOf('dummies', Number.MAX_SAFE_INTEGER) })).edges).toHaveLength(
      20,
    );
    expect((await reader.page({ after: cursorOf('dummies', 1) })).edges).toEqual([]);
  });
});
