import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Reply, startApiOn, type TestApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { createStore, DIRECT, ifEmbedded, type TestStore } from './support/stores.js';

const KEYS = { JWT_SECRET: 'move '.repeat(8), WRITE_ACCESS: 'authenticated' };

ifEmbedded(describe)('npm run move of posts and users from SQLite to PostgreSQL', () => {
  let source: TestStore;
  let target: TestStore;
  beforeEach(async () => {
    source = await createStore('SQLite');
    target = await createStore('PostgreSQL', { ...DIRECT, empty: true });
  });
  afterEach(() => Promise.all([source.remove(), target.remove()]));

  const move = () =>
    runCommand('move', [target.environment['DATABASE_URL']!], { environment: source.environment });
  const start = ({ environment }: TestStore) => startApiOn({ ...environment, ...KEYS });
  const post = { title: 'A title', content: 'Some content' };

  it('keeps every response, and what was begun goes on', async () => {
    const before = await start(source);
    const ada = await before.accounts.logInNew('ada@example.com');
    const made = async (reply: Promise<Reply>): Promise<Reply> => {
      expect([200, 201, 204]).toContain((await reply).status);
      return reply;
    };
    await made(before.post('/v2/users', { name: 'Grace', email: 'grace@example.com' }, ada));
    for (const content of ['Alle Wege führen nach Rom', 'x'.repeat(40_000) + ' weit weg', 'Gone'])
      await made(before.post('/v1/posts', { ...post, content, status: 'published' }, ada));
    await made(before.patch('/v1/posts/1', { title: 'Zeile\r\n"zwei" \\ \u2029 😀' }, ada));
    await made(before.patch('/v1/users/1', { name: 'Renamed' }, ada));
    await made(before.delete('/v1/posts/3', ada));
    const keyed = { ...ada, 'idempotency-key': 'one' };
    const first = await made(before.post('/v1/posts', post, keyed));
    await made(before.post('/v1/posts', post, ada));
    await made(before.delete('/v1/posts/5', ada));
    const paths = [
      '/v1/posts',
      '/v1/posts?sort_by=title&status=published',
      '/v1/posts?q=ROM',
      '/v1/posts?q=weit',
      '/v1/posts/1',
      '/v1/posts/2',
      '/v1/posts/3',
      '/v1/posts/4',
      '/v2/users',
      '/v1/users/1',
      '/v1/users/1/posts',
      '/v1/events',
    ];
    const responses = (api: TestApi) =>
      Promise.all(
        paths.map(async (path) => {
          const { status, text, headers } = await api.get(path);
          return { path, status, text, etag: headers['etag'] };
        }),
      );
    const expected = await responses(before);
    const tag = expected.find(({ path }) => path === '/v1/posts/1')!.etag!;
    await before.app.close();

    const { code, output } = await move();

    expect([code, output]).toEqual([0, expect.stringMatching(/\nusers: 2 rows in [^]*\nposts: 3 rows in /)]);
    const after = await start(target);
    expect(await responses(after)).toEqual(expected);

    // What was begun goes on.
    const again = await after.post('/v1/posts', post, keyed);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(await after.patch('/v1/posts/1', { title: 'New' }, { ...ada, 'if-match': tag })).toHaveStatus(200);
    expect((await after.post('/v1/posts', post, ada)).body.data.id).toBe(6);
    expect((await after.get('/v1/posts')).body.meta.total).toBe(4);
    expect((await after.post('/v2/users', { name: 'Third' }, ada)).body.data.id).toBe('3');
    expect((await after.get('/v2/users')).body.meta.total).toBe(3);
    await after.app.close();
  });
});
