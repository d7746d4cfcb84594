import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApiOn, type TestApi } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { FixtureModule } from './support/fixture.module.js';
import { createTablesIn } from './support/fixture/database.js';
import { recordedEvents } from './support/recorded-changes.js';
import { queryStore } from './support/rows.js';
import { STEP, totpCode } from './support/second-factor.js';
import { createStore, DIRECT, ifEmbedded, type TestStore } from './support/stores.js';

/** Numbers that JavaScript, SQLite and PostgreSQL would change. */
const EXACT =
  '{"large": 1e400, "long": 12345678901234567890, "exact": 1.10, "z": "Straße \\u2028", "a": null}';
const KEYS = { JWT_SECRET: 'move '.repeat(8), WRITE_ACCESS: 'authenticated' };

ifEmbedded(describe)('npm run move from SQLite to PostgreSQL', () => {
  let source: TestStore;
  let target: TestStore;
  beforeEach(async () => {
    source = await createStore('SQLite');
    target = await createStore('PostgreSQL', { ...DIRECT, empty: true });
  });
  afterEach(() => Promise.all([source.remove(), target.remove()]));

  const address = () => target.environment['DATABASE_URL']!;
  const move = () => runCommand('move', [address()], { environment: source.environment });
  const start = ({ environment }: TestStore, settings = {}) =>
    startApiOn({ ...environment, ...KEYS, ...settings }, [FixtureModule]);

  it('keeps every response, and what was begun goes on', async () => {
    const before = await start(source);
    const staff = await before.accounts.logInNewStaff();
    await before.accounts.register('ada@example.com');
    await before.accounts.admin().verifyEmail('ada@example.com');
    const tokens = await before.accounts.login('ada@example.com');
    const ada = bearer(tokens.access);
    const made = async (reply: Promise<Reply>): Promise<Reply> => {
      expect([200, 201, 204]).toContain((await reply).status);
      return reply;
    };
    for (const text of ['Alle Wege führen nach Rom', 'x'.repeat(40_000) + ' weit weg', 'Gone'])
      await made(before.post('/v1/dummies', { text, status: 'done' }, staff));
    await made(before.patch('/v1/dummies/1', { text: 'Zeile\r\n"zwei" \\ \u2029 😀' }, staff));
    await made(before.delete('/v1/dummies/3', staff));
    const keyed = { ...ada, 'idempotency-key': 'one' };
    const first = await made(before.post('/v1/stubs', EXACT, keyed));
    const key = await made(before.post('/auth/api-keys/', { name: 'Key', scope: 'write' }, ada));
    const bearerOfKey = bearer(key.body.data.key);
    await made(before.get('/auth/me/', bearerOfKey));
    const { body: factor } = await made(before.post('/auth/mfa/totp/', {}, ada));
    await made(before.post('/auth/mfa/totp/confirm/', { code: totpCode(factor.secret) }, ada));
    await made(before.post('/v1/dummies', { text: 'Last' }, staff));
    await made(before.delete('/v1/dummies/4', staff));
    const session = await before.accounts.session('staff@example.com');
    const requests: [path: string, headers?: Record<string, string>][] = [
      ['/v1/dummies'],
      ['/v1/dummies?status=done'],
      ['/v1/dummies?q=Rom'],
      ['/v1/dummies?q=weit'],
      ['/v1/dummies/1'],
      ['/v1/dummies/2'],
      ['/v1/dummies/3'],
      ['/v1/stubs', ada],
      ['/v1/stubs/1', ada],
      ['/v1/audit', staff],
      ['/auth/me/', ada],
      ['/auth/me/', bearerOfKey],
      ['/auth/me/', session.cookie],
      ['/auth/mfa/', ada],
      ['/auth/api-keys/', ada],
      ['/auth/sessions/', ada],
      ['/auth/me/export/', ada],
    ];
    const responses = (api: TestApi) =>
      Promise.all(
        requests.map(async ([path, headers]) => {
          const { status, text, headers: sent } = await api.get(path, headers);
          return { path, status, text, etag: sent['etag'] };
        }),
      );
    const expected = await responses(before);
    const tag = expected.find(({ path }) => path === '/v1/dummies/1')!.etag!;
    await before.app.close();
    await createTablesIn(target.environment);

    const { code, output } = await move();

    expect([code, output]).toEqual([0, expect.stringContaining('\ndummies: 2 rows in ')]);
    expect(output).toContain('\nstubs: 1 row in ');
    expect(output).toMatch(/^From: .*\nTo: /);
    expect(output).toContain(
      'they have to come along:\nENCRYPTION_KEY, if it is set, and JWT_SECRET, or without it the file jwt-secret in DATA_DIR',
    );
    expect(output).not.toContain('postgres:postgres');
    const after = await start(target);
    expect(await responses(after)).toEqual(expected);

    // What was begun goes on.
    const again = await after.post('/v1/stubs', EXACT, keyed);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(await after.patch('/v1/dummies/1', { text: 'New' }, { ...staff, 'if-match': tag })).toHaveStatus(
      200,
    );
    const { body: created } = await after.post('/v1/dummies', { text: 'New' }, staff);
    expect(created.data.id).toBe(5);
    expect((await after.get('/v1/dummies')).body.meta.total).toBe(3);
    const second = { ...ada, 'idempotency-key': 'two' };
    expect((await after.post('/v1/stubs', EXACT, second)).body.data.id).toBe(2);
    expect(await after.post('/auth/refresh/', { refresh: tokens.refresh })).toHaveStatus(200);
    const challenge = await after.post('/auth/login/', { email: 'ada@example.com', password: PASSWORD });
    after.moveClock(STEP);
    const login = { mfa_token: challenge.body.mfa_token, code: totpCode(factor.secret, STEP) };
    expect(await after.post('/auth/login/', login)).toHaveStatus(200);
    await after.app.close();
  });

  it('continues the positions of events that were purged', async () => {
    const before = await start(source, { WRITE_ACCESS: 'open' });
    for (let n = 0; n < 3; n++) await before.dummies.create();
    expect(await recordedEvents(before)).toHaveLength(3);
    await before.app.close();
    await queryStore(source, 'DELETE FROM events');
    await createTablesIn(target.environment);
    expect((await move()).code).toBe(0);

    const after = await start(target, { WRITE_ACCESS: 'open' });
    await after.dummies.create();
    expect((await recordedEvents(after)).at(-1).id).toMatch(/-4$/);
    await after.app.close();
  });

  it('converts values by the types of their columns', async () => {
    const table = (types: string) =>
      `CREATE TABLE things (${types
        .split(', ')
        .map((type, n) => `c${n} ${type}`)
        .join(', ')})`;
    await queryStore(
      source,
      table('integer PRIMARY KEY, blob, text, boolean, text, text, real, numeric, integer'),
      `INSERT INTO things VALUES
       (1, x'00ff27', '{"a": [1, "b"]}', TRUE, '{1,2}', '2026-01-02T03:04:05.678Z', 0.1, 12.5, 9007199254740993)`,
      `INSERT INTO things (c0) VALUES (7)`,
    );
    await createSchema(target);
    await queryStore(
      target,
      table(
        'bigserial PRIMARY KEY, bytea, jsonb, boolean, integer[], timestamptz, double precision, numeric, bigint',
      ),
    );

    expect(await move()).toEqual({ code: 0, output: expect.stringContaining('things: 2 rows') });

    const text = (n: number) => `CAST(c${n} AS text) AS c${n}`;
    const [first, second] = await queryStore(
      target,
      `SELECT c0, c1, ${[2, 3, 4].map(text).join(', ')}, c5, c6, ${[7, 8].map(text).join(', ')} FROM things ORDER BY c0`,
    );
    expect({ ...first, c1: Buffer.from(first.c1).toString('hex') }).toEqual({
      c0: 1,
      c1: '00ff27',
      c2: '{"a": [1, "b"]}',
      c3: 'true',
      c4: '{1,2}',
      c5: '2026-01-02T03:04:05.678Z',
      c6: 0.1,
      c7: '12.5',
      c8: '9007199254740993',
    });
    expect(Object.values(second).filter((value) => value !== null)).toEqual([7]);
  });

  it('holds few rows in memory at a time', async () => {
    const table = 'CREATE TABLE large (id integer PRIMARY KEY, a text, b text)';
    await queryStore(
      source,
      table,
      `INSERT INTO large WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
       SELECT i, hex(randomblob(400000)), hex(zeroblob(400000)) FROM n`,
    );
    await createSchema(target);
    await queryStore(target, table);
    // All texts together are larger than the heap may be; the application itself takes half of it.
    const environment = { ...source.environment, NODE_OPTIONS: '--max-old-space-size=140' };
    const { code, output } = await spawnCommand('move', [address()], { environment });

    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('large: 200 rows') });
    expect(output).toMatch(/ \d+ rows of large, .*\/s/);
  });

  it('leaves the target empty when it fails, and can be repeated', async () => {
    const api = await start(source, { WRITE_ACCESS: 'open' });
    await api.dummies.create();
    await api.post('/v1/stubs', {}, { 'idempotency-key': 'one' });
    await api.accounts.register('ada@example.com');
    await api.app.close();
    await createTablesIn(target.environment);
    const fault = 'ALTER TABLE accounts ADD CONSTRAINT "a fault" CHECK (id < 0)';
    const repair = 'ALTER TABLE accounts DROP CONSTRAINT "a fault"';
    await queryStore(target, fault);

    const { code, output } = await move();

    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/\naccounts cannot be copied: .*a fault.*; the target stays empty\n$/),
    ]);
    const rows = 'SELECT (SELECT count(*) FROM dummies) AS dummies, (SELECT count(*) FROM stubs) AS stubs';
    expect(await queryStore(target, rows)).toEqual([{ dummies: 0, stubs: 0 }]);
    await queryStore(target, repair);
    expect((await move()).code).toBe(0);
    expect(await queryStore(target, rows)).toEqual([{ dummies: 1, stubs: 1 }]);
    const copy = await start(target, { WRITE_ACCESS: 'open' });
    expect((await copy.dummies.create()).id).toBe(2);
    expect(await recordedEvents(copy)).toHaveLength(3);
    await copy.app.close();
  });

  it('refuses a target that is not empty, and keeps it', async () => {
    const api = await start(target, { WRITE_ACCESS: 'open' });
    await api.accounts.register('ada@example.com');
    await api.app.close();

    expect(await move()).toEqual({
      code: 1,
      output: expect.stringMatching(/The target is not empty: [a-z_]+ has \d rows?\n$/),
    });
    expect(await queryStore(target, 'SELECT count(*) AS n FROM accounts')).toEqual([{ n: 1 }]);
  });

  it('refuses a source that is in use', async () => {
    const api = await start(source);
    expect(await move()).toEqual({
      code: 1,
      output: expect.stringMatching(/Another service has .*database.sqlite open\n$/),
    });
    await api.app.close();
  });

  it('compares the numbers of rows, and leaves the target empty when some are missing', async () => {
    const api = await start(source, { WRITE_ACCESS: 'open' });
    for (const name of ['ada', 'bob', 'eve']) await api.accounts.register(`${name}@example.com`);
    await api.app.close();
    await createTablesIn(target.environment);
    await queryStore(
      target,
      `CREATE RULE lose AS ON INSERT TO accounts WHERE new.email LIKE 'bob%' DO INSTEAD NOTHING`,
    );
    expect(await move()).toEqual({
      code: 1,
      output: expect.stringContaining(
        'accounts cannot be copied: 2 of 3 rows arrived; the target stays empty',
      ),
    });
    expect(await queryStore(target, 'SELECT count(*) AS n FROM accounts')).toEqual([{ n: 0 }]);
  });

  it('refuses a source with tables that no migration creates, before it writes', async () => {
    await queryStore(source, 'CREATE TABLE extra (id integer PRIMARY KEY)');
    expect(await move()).toEqual({
      code: 1,
      output: expect.stringContaining('The source has a table extra that no migration creates'),
    });
  });

  it('refuses a source with an older schema, before it changes the target', async () => {
    await queryStore(source, 'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    expect(await move()).toEqual({
      code: 1,
      output: expect.stringMatching(/The schema of the database is older .*; run npm run migrate first\n$/),
    });
    const [table] = await queryStore(
      target,
      "SELECT count(*) AS count FROM pg_tables WHERE schemaname = 'public'",
    );
    expect(table.count).toBe(0);
  });

  it('takes the target from MOVE_TO, too', async () => {
    const environment = { ...source.environment, MOVE_TO: address() };
    const { code, output } = await runCommand('move', [], { environment });
    expect([code, output]).toEqual([0, expect.stringMatching(/^event_log: 1 row in /m)]);
  });

  it('refuses PostgreSQL as the source', async () => {
    const { code, output } = await runCommand('move', [address()], { environment: target.environment });
    expect([code, output]).toEqual([1, 'DATABASE_URL is set: only the embedded database moves\n']);
  });

  async function createSchema({ environment }: TestStore): Promise<void> {
    await runCommand('migrate', ['--yes'], { environment });
  }
});

ifEmbedded(describe)('npm run move', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await createStore('SQLite');
  });
  afterEach(() => store.remove());

  const move = (...parameters: string[]) =>
    runCommand('move', parameters, { environment: store.environment });
  const server = () => new URL(process.env['TEST_DATABASE_URL']!);

  it.each([
    ['no target', [], /^Usage: npm run move/],
    ['two targets', ['a', 'b'], /^Usage: npm run move/],
    ['another kind of address', ['mysql://root@db/posts'], /The target must be /],
    ['an address without a user', ['postgres://db/posts'], /The target must be one PostgreSQL address/],
    [
      'an address where nothing listens',
      ['postgres://ada@127.0.0.1:9/posts'],
      /The target cannot be reached: connect ECONNREFUSED 127.0.0.1:9\n$/,
    ],
  ])('refuses %s', async (_, parameters, message) => {
    expect(await move(...parameters)).toEqual({ code: 1, output: expect.stringMatching(message) });
  });

  it('refuses a database that is missing', async () => {
    const url = server();
    url.pathname = 'nowhere';
    expect(await move(url.href)).toEqual({
      code: 1,
      output: expect.stringContaining(
        'The target is rejected by the server: database "nowhere" does not exist',
      ),
    });
  });

  it('needs a source', async () => {
    const DATA_DIR = join(store.environment['DATA_DIR']!, 'nowhere');
    const { code, output } = await runCommand('move', [server().href], { environment: { DATA_DIR } });
    expect([code, output]).toEqual([1, expect.stringContaining('There is no database yet (SQLite in ')]);
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('needs no superuser on PostgreSQL, but the owner of the database', async () => {
    const url = server();
    const role = `mover_${process.pid}`;
    const client = new Client(url.href);
    await client.connect();
    await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    await client.query(`CREATE DATABASE ${role} OWNER ${role}`);
    try {
      Object.assign(url, { username: role, password: 'secret', pathname: role });
      expect(await move(url.href)).toEqual({
        code: 0,
        output: expect.stringMatching(/^event_log: 1 row in /m),
      });
    } finally {
      await client.query(`DROP DATABASE ${role} WITH (FORCE)`);
      await client.query(`DROP ROLE ${role}`);
      await client.end();
    }
  });
});
