import { describe, expect, it } from '@jest/globals';
import { startApiOn } from './support/api.js';
import { runCommand } from './support/command.js';
import { createStore, DIRECT, ifEmbedded, type StoreName } from './support/stores.js';
import { until } from './support/until.js';

ifEmbedded(describe).each<[StoreName, StoreName]>([
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
])('npm run move from %s to %s', (sourceStore, targetStore) => {
  it('keeps webhooks and their deliveries', async () => {
    const source = await createStore(sourceStore, DIRECT);
    const target = await createStore(targetStore, { ...DIRECT, empty: true });
    const settings = { JWT_SECRET: 'move '.repeat(8), WRITE_ACCESS: 'authenticated' };
    const before = await startApiOn({ ...source.environment, ...settings });
    const staff = await before.accounts.logInNewStaff();
    const hook = { url: 'http://127.0.0.1:9/hook', types: ['*'], description: 'Never reached' };
    expect(await before.post('/v1/webhooks', hook, staff)).toHaveStatus(201);
    expect(await before.post('/v1/webhooks/1/test', {}, staff)).toHaveStatus(202);
    await until('the first attempt of the delivery has failed', async () => {
      const { body } = await before.get('/v1/webhooks/1/deliveries', staff);
      return body.data[0]?.attempts === 1;
    });
    expect(await before.patch('/v1/webhooks/1', { active: false }, staff)).toHaveStatus(200);
    const paths = ['/v1/webhooks', '/v1/webhooks/1', '/v1/webhooks/1/deliveries'];
    const responses = (api: typeof before) =>
      Promise.all(
        paths.map(async (path) => {
          const { status, text, headers } = await api.get(path, staff);
          return { path, status, text, etag: headers['etag'] };
        }),
      );
    const expected = await responses(before);
    await before.app.close();

    const address = target.environment['DATABASE_URL'] ?? target.environment['DATA_DIR']!;
    expect(await runCommand('move', [address], { environment: source.environment })).toMatchObject({
      code: 0,
    });

    const after = await startApiOn({ ...target.environment, ...settings });
    expect(expected.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await responses(after)).toEqual(expected);
    await after.app.close();
    await Promise.all([source.remove(), target.remove()]);
  });
});
