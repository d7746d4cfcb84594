import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { created, startApiOn, type TestApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { createTablesIn } from './support/fixture/database.js';
import { FixtureModule } from './support/fixture.module.js';
import { Service } from './support/service.js';
import { createStore, DIRECT, ifEmbedded, type TestStore } from './support/stores.js';

ifEmbedded(describe)('events after a restore', () => {
  it('have no id that was given before', async () => {
    const store = await createStore('SQLite', { empty: true });
    const data = join(store.environment['DATA_DIR']!, 'data');
    const backup = join(store.environment['DATA_DIR']!, 'backup.sqlite');
    const service = await Service.withFixture({ DATA_DIR: data });
    await service.create('Before');
    await runCommand('backup', [backup], { environment: { DATA_DIR: data } });
    await service.create('After');
    const events = await (await service.fetch('/v1/events')).text();
    await service.end('SIGKILL');

    for (const name of ['database.sqlite-wal', 'database.sqlite-shm'])
      rmSync(join(data, name), { force: true });
    copyFileSync(backup, join(data, 'database.sqlite'));
    const restored = await startApiOn({ DATA_DIR: data }, [FixtureModule]);
    await restored.dummies.create({ text: 'Another' });
    const { data: after } = (await restored.get('/v1/events')).body;
    expect(after).toHaveLength(2);
    expect(events).not.toContain(after[1].id);
    await restored.stop();
    await store.remove();
  });
});

ifEmbedded(describe)('events after npm run move', () => {
  it('are those that were there, and the feed continues after the last one', async () => {
    const source = await createStore('SQLite');
    const target = await createStore('PostgreSQL', { ...DIRECT, empty: true });
    const start = ({ environment }: TestStore) =>
      startApiOn({ ...environment, JWT_SECRET: 'move '.repeat(8), WRITE_ACCESS: 'authenticated' }, [
        FixtureModule,
      ]);
    const before = await start(source);
    const ada = await before.accounts.logInNew('ada@example.com');
    const staff = await before.accounts.logInNewStaff();
    for (const text of ['First', 'Second']) created(await before.post('/v1/dummies', { text }, staff));
    await before.delete('/v1/dummies/2', staff);
    created(await before.post('/v1/stubs', {}, { ...staff, 'idempotency-key': 'one' }));
    const { body: page } = await before.get('/v1/events?limit=3', ada);
    const requests = [
      ['/v1/events', ada],
      ['/v1/events', staff],
      [`/v1/events?cursor=${page.next_cursor}`, ada],
      [`/v1/events?cursor=${page.data[0].id}`],
    ] as const;
    const responses = (api: TestApi) =>
      Promise.all(requests.map(async ([path, headers]) => (await api.get(path, headers)).text));
    const expected = await responses(before);
    await before.app.close();
    await createTablesIn(target.environment);

    const to = target.environment['DATABASE_URL']!;
    expect((await runCommand('move', [to], { environment: source.environment })).code).toBe(0);

    const after = await start(target);
    expect(await responses(after)).toEqual(expected);
    created(await after.post('/v1/dummies', { text: 'New' }, staff));
    created(await after.post('/v1/stubs', {}, { ...ada, 'idempotency-key': 'two' }));
    // In a new epoch.
    const { data: old } = JSON.parse(expected[0]!);
    const ids = (await after.get('/v1/events', ada)).body.data.map(({ id }: any) => id);
    expect(ids.slice(0, old.length)).toEqual(old.map(({ id }: any) => id));
    const { data: next } = (await after.get(`/v1/events?cursor=${old.at(-1).id}`, ada)).body;
    expect(next.map(({ type, subject }: any) => `${type} ${subject}`)).toEqual([
      'dummy.created /v1/dummies/3',
      'stub.created /v1/stubs/2',
    ]);
    await after.app.close();
    await Promise.all([source.remove(), target.remove()]);
  });
});
