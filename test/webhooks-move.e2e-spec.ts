import { describe, expect, it } from '@jest/globals';
import { startApiOn } from './support/api.js';
import { runCommand } from './support/command.js';
import { queryStore } from './support/rows.js';
import { createStore, DIRECT, ifEmbedded } from './support/stores.js';
import { until } from './support/until.js';

ifEmbedded(describe)('npm run move of webhooks', () => {
  it('keeps webhooks and their deliveries', async () => {
    const source = await createStore('SQLite');
    const target = await createStore('PostgreSQL', { ...DIRECT, empty: true });
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
    const positions = 'SELECT name, CAST(position AS text) AS position FROM event_subscribers ORDER BY name';
    const subscribers = await queryStore(source, positions);
    expect(subscribers).not.toEqual([]);

    const address = target.environment['DATABASE_URL']!;
    expect(await runCommand('move', [address], { environment: source.environment })).toMatchObject({
      code: 0,
    });

    expect(await queryStore(target, positions)).toEqual(subscribers);
    const after = await startApiOn({ ...target.environment, ...settings });
    expect(expected.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await responses(after)).toEqual(expected);
    await after.app.close();
    await Promise.all([source.remove(), target.remove()]);
  });
});
