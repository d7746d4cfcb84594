import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../src/database/database.js';
import { insertPosts } from '../src/posts/post-batch.js';
import { startApiOn } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { createStore, STORES, type TestStore } from './support/stores.js';

const TIMES = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-02T00:00:00.000Z' };
const USER = { kind: 'user', id: 2, name: 'Ada', email: '', ...TIMES };
const POST = { kind: 'post', id: 7, title: 'T', content: 'C', author_id: 2, status: 'draft', ...TIMES };
const ORDER = { kind: 'order', id: 3, status: 'created', created_at: TIMES.created_at, payload: { a: 1 } };

describe.each(STORES)('export and import on %s', (store) => {
  let from: TestStore;
  let to: TestStore;
  beforeEach(async () => {
    [from, to] = [await createStore(store), await createStore(store)];
  });
  afterEach(() => Promise.all([from.remove(), to.remove()]));

  const fileIn = ({ environment }: TestStore, name: string) => join(environment['DATA_DIR']!, name);
  const run = ({ environment }: TestStore, name: string, ...parameters: string[]) =>
    runCommand(name, parameters, { environment });
  /** Imports lines, which are objects or texts. */
  async function importLines(lines: readonly (object | string)[], ...flags: string[]) {
    const file = fileIn(to, 'lines.ndjson');
    const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    await writeFile(file, texts.join('\n'));
    return run(to, 'import', ...flags, file);
  }

  it('take users, posts and orders to an empty database, with their ids, and change nothing', async () => {
    const api = await startApiOn(from.environment);
    await api.users.create({ name: 'Ada', email: 'ada@example.com' });
    await api.posts.create({ title: 'Straße "nach" Rom', content: 'A\r\nB\u2028C', status: 'published' });
    const gone = await api.posts.create();
    expect((await api.send({ method: 'DELETE', url: `/v1/posts/${gone.id}` })).status).toBe(204);
    const large = await api.posts.create({ content: 'x'.repeat(900_000) });
    await api.patch(`/v1/posts/${large.id}`, { content: '' });
    await api.posts.createBy(2, ['By Ada']);
    const payload = '{\n"n": 12345678901234567890,\r\n "z": 1, "10": 1, "2": 2}';
    const key = { 'idempotency-key': 'a' };
    await api.send({ method: 'POST', url: '/v1/orders', headers: key, payload });
    const PATHS = [
      '/v2/users/1',
      '/v2/users/2',
      '/v1/posts',
      '/v1/posts/3',
      '/v1/orders',
      '/v1/users/2/posts',
    ];
    const before = await Promise.all(PATHS.map(async (path) => (await api.get(path)).text));
    await api.stop();

    const file = fileIn(from, 'all.ndjson');
    const exported = await run(from, 'export', file);
    expect(exported).toEqual({
      code: 0,
      output: expect.stringMatching(/2 users.*\n.*3 posts.*\n.*1 order in/),
    });
    const imported = await run(to, 'import', '--with-ids', file);
    expect(imported.output).toMatch(/2 users stored\n3 posts stored\n1 order stored/);
    expect(imported.code).toBe(0);

    const copy = await startApiOn(to.environment);
    // Line breaks outside of texts become blanks, so that an order is one line.
    const after = await Promise.all(PATHS.map(async (path) => (await copy.get(path)).text));
    const blank = (text: string) => text.replaceAll(/[\r\n]/g, ' ');
    expect(after).toEqual(before.map(blank));
    expect((await copy.get('/v1/posts?q=STRASSE')).body.meta.total).toBe(1);
    const events = (await copy.get('/v1/events')).body.data;
    expect(events.map(({ type, subject }: any) => `${type} ${subject}`)).toEqual([
      'user.created /v2/users/1',
      'user.created /v2/users/2',
      ...[1, 3, 4].map((id) => `post.created /v1/posts/${id}`),
      'order.created /v1/orders/1',
    ]);
    // New ids follow the imported ones.
    expect((await copy.posts.create()).id).toBe(5);
    expect((await copy.users.create()).id).toBe('3');
    await copy.stop();
    expect((await run(to, 'verify')).output).toContain('All totals are correct');
  });

  it('import posts into any database, with new ids and the first user as the author', async () => {
    const api = await startApiOn(to.environment);
    await api.posts.create();
    const { code, output } = await importLines([USER, POST, ORDER]);

    expect(code).toBe(2);
    expect(output).toContain('1 post stored');
    expect(output).toMatch(/line 1: is not a post; --with-ids imports users and orders, too/);
    expect(output).toMatch(/line 3: is not a post/);
    expect(await api.posts.get(2)).toMatchObject({ title: 'T', content: 'C', author_id: 1 });
    await api.stop();
  });

  it('never give an id again that was used before', async () => {
    const api = await startApiOn(to.environment);
    for (let n = 0; n < 3; n++) {
      const { id } = await api.posts.create();
      await api.send({ method: 'DELETE', url: `/v1/posts/${id}` });
    }
    expect((await importLines([{ ...POST, id: 2, author_id: 1 }], '--with-ids')).code).toBe(0);

    expect((await api.posts.create()).id).toBe(4);
    await api.stop();
  });

  it('keep a database that is not empty', async () => {
    const api = await startApiOn(to.environment);
    await api.posts.create();
    const { code, output } = await importLines([USER], '--with-ids');

    expect(code).toBe(1);
    expect(output).toContain('--with-ids needs an empty database, and this one has posts');
    expect((await api.get('/v2/users/2')).status).toBe(404);
    await api.stop();
  });

  it.each([
    ['an unknown kind', [{ ...POST, kind: 'page' }], 'line 1: kind must be one of user, post, order'],
    ['no kind', [{ title: 'T', content: 'C' }], 'line 1: kind must be one of user, post, order'],
    ['no JSON', ['{'], 'line 1: is not JSON'],
    ['a bad id', [{ ...USER, id: 0 }], 'line 1: id must not be less than 1'],
    ['an id as an object', [{ ...USER, id: {} }], 'line 1: id must'],
    ['a bad time', [{ ...USER, created_at: 'yesterday' }], 'line 1: created_at must be'],
    ['a bad name', [{ ...USER, name: '' }], 'line 1: name must not be empty'],
    ['NUL in a content', [USER, { ...POST, content: '\0' }], 'line 2: content must not contain NUL'],
    ['an unknown author', [{ ...POST, author_id: 9 }], 'line 1: author_id must be a user of an earlier line'],
    ['an id twice', [USER, USER], 'line 2: ids must ascend within the lines of a kind'],
    [
      'kinds in turn',
      [USER, ORDER, { ...USER, id: 3 }],
      'line 3: the lines of a kind must follow each other',
    ],
    ['a payload that is no object', [{ ...ORDER, payload: [] }], 'line 1: payload must be a JSON object'],
  ])('reject a line with %s, and store the others', async (_, lines, message) => {
    const last = { ...ORDER, id: 9 };
    const { code, output } = await importLines([...lines, last], '--with-ids');

    expect(output).toContain(message);
    expect(output).toMatch(/orders? stored/);
    expect(code).toBe(2);
  });

  it('check everything and write nothing with --dry-run, also without a database', async () => {
    await to.remove();
    to = await createStore(store, { empty: true });
    const bad = { ...POST, title: '' };
    const withIds = await importLines([USER, POST, bad, ORDER], '--with-ids', '--dry-run');
    expect(withIds.output).toMatch(/1 user valid, nothing was written\n1 post valid.*\n1 order valid/);
    expect(withIds.output).toContain('line 3: title must not be empty');
    expect(withIds.code).toBe(2);
    const posts = await importLines([POST], '--dry-run');
    expect(posts).toEqual({ code: 0, output: expect.stringContaining('1 post valid, nothing was written') });

    expect((await run(to, 'verify')).output).toContain(
      store === 'SQLite' ? 'There is no database yet' : 'migrations are pending',
    );
  });

  it('read CSV with quotes and line breaks, and report rows that are none', async () => {
    const file = fileIn(to, 'posts.csv');
    const rows = [
      '\uFEFFtitle,content,status,more',
      '"Zitat ""A"", B","two\r\nlines",published,ignored',
      'Too many,C,,,x,y',
      'Without content,,draft,',
      'Last,C,,',
    ];
    await writeFile(file, rows.join('\r\n'));
    const { code, output } = await run(to, 'import', file);

    expect(output).toContain('2 posts stored');
    expect(output).toContain('row 3: is not CSV: Invalid Record Length: columns length is 4, got 6\n');
    expect(output).toContain('row 4: content must be a string');
    expect(code).toBe(2);
    const api = await startApiOn(to.environment);
    expect(await api.posts.get(1)).toMatchObject({
      title: 'Zitat "A", B',
      content: 'two\r\nlines',
      status: 'published',
    });
    expect(await api.posts.get(2)).toMatchObject({ title: 'Last', status: 'draft' });
    await api.stop();
  });

  it('hold few rows in memory at a time', async () => {
    const api = await startApiOn(from.environment);
    const content = 'x'.repeat(700_000);
    // One post in each statement, because the statements of the service have a time limit.
    for (let n = 0; n < 160; n++) {
      await insertPosts(api.app.get(Database), [{ title: 'T', content, authorId: 1, createdAt: new Date() }]);
    }
    await api.stop();
    const file = fileIn(from, 'large.ndjson');

    // All texts together are larger than the heap may be.
    const environment = { ...from.environment, NODE_OPTIONS: '--max-old-space-size=80' };
    const { code, output } = await spawnCommand('export', ['--kinds', 'posts', file], { environment });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('160 posts') });
    expect((await stat(file)).size).toBeGreaterThan(160 * 700_000);
  });

  it.each([
    [
      'text that is not UTF-8',
      Buffer.from('title,content\nA,C\nStra\xdfe,C\nB,C\n', 'latin1'),
      'is not UTF-8',
    ],
    ['a quote in the wrong place', Buffer.from('title,content\nA,C\n"B"x,C\nD,C\n'), 'Invalid Closing Quote'],
    ['a row without an end', Buffer.from(`title,content\nA,C\nB,${'x'.repeat(2_200_000)}\nD,C\n`), 'exceed'],
  ])('do not read the rows of CSV after %s', async (_, bytes, reason) => {
    const file = fileIn(to, 'posts.csv');
    await writeFile(file, bytes);
    const { code, output } = await run(to, 'import', file);

    expect(output).toContain(reason);
    expect(output).toMatch(/row \d: .*; it and the rows after it were not read\n/);
    expect(output).toMatch(/^[01] posts? stored/m);
    expect(code).toBe(2);
  });

  it('write to standard output, only the chosen kinds, and never over a file', async () => {
    const api = await startApiOn(from.environment);
    await api.posts.create();
    await api.stop();
    const { output } = await spawnCommand('export', ['--kinds', 'posts', '-'], {
      environment: from.environment,
    });
    const lines = output.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ kind: 'post', id: 1, title: 'A title' }]);

    const file = fileIn(from, 'taken');
    await writeFile(file, 'kept');
    expect(await readdir(from.environment['DATA_DIR']!)).not.toContainEqual(expect.stringContaining('.part'));
    expect(await run(from, 'export', file)).toEqual({
      code: 1,
      output: expect.stringContaining('exists already; choose another name'),
    });
    expect(await readFile(file, 'utf8')).toBe('kept');
    expect((await run(from, 'export', '--kinds', 'posts,pages', 'x')).output).toContain(
      '--kinds: pages is not one of users, posts, orders',
    );
  });
});
