import { describe, expect, it } from '@jest/globals';
import { Service } from '../support/service.js';
import { createStore, ifEmbedded } from '../support/stores.js';

ifEmbedded(describe)('a second service', () => {
  it('does not start on the same embedded database, and prints one line', async () => {
    const store = await createStore('SQLite');
    const first = await Service.withFixture(store.environment);

    await expect(Service.withFixture(store.environment)).rejects.toThrow(
      /ended with 1:\nAnother service has .*database\.sqlite open\n$/,
    );

    expect((await first.create()).status).toBe(201);
    await first.end('SIGKILL');
    const third = await Service.withFixture(store.environment);
    expect((await third.fetch('/v1/dummies/1')).status).toBe(200);
    await third.end();
    await store.remove();
  });

  it('serves the same data on the same PostgreSQL, even if several start at the same time', async () => {
    const store = await createStore('PostgreSQL');
    const services = await Promise.all(
      Array.from({ length: 4 }, () => Service.withFixture(store.environment)),
    );

    const ids = await Promise.all(
      services.map(async (service) => ((await (await service.create()).json()) as any).data.id),
    );
    expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    for (const service of services) {
      for (const id of ids) expect((await service.fetch(`/v1/dummies/${id}`)).status).toBe(200);
      await service.end();
    }
    await store.remove();
  });
});
