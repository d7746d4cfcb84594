import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Purger } from '../src/platform/jobs/purger.js';
import { EventAppender, EventPurge } from '../src/platform/changes/index.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, startApiOn } from './support/api.js';
import { runCommand } from './support/command.js';
import { environmentOfProcess } from './support/environment.js';
import { FixtureModule } from './support/fixture.module.js';
import { DummiesService } from './support/fixture/dummies.service.js';
import { onEach } from './support/on-each.js';
import { Service } from './support/service.js';
import { shuffle } from './support/shuffle.js';
import { ANY_STORE, createStore, STORES } from './support/stores.js';
import { until } from './support/until.js';

const DAY = 24 * 3600_000;

onEach('GET /v1/events', { modules: [FixtureModule] }, ({ api }) => {
  /** Returns the id of the newest event, or an empty string if there is none. */
  const newest = async (): Promise<string> => {
    let cursor = '';
    for (;;) {
      const { body } = await api.get(`/v1/events?limit=100&cursor=${cursor}`);
      cursor = body.next_cursor ?? cursor;
      if (!body.has_next) return cursor;
    }
  };
  const since = async (cursor: string, types = ''): Promise<any[]> =>
    (await api.get(`/v1/events?cursor=${cursor}&types=${types}&limit=100`)).body.data;

  it('contains one event for each change, with the resource after the change', async () => {
    const start = await newest();
    const dummy = await api.dummies.create({ text: 'First "quoted"\n\u2028 ü' });
    const views = [dummy];
    for (const change of [{ text: 'Second' }, { status: 'done' }, { status: 'done' }, {}])
      views.push((await api.patch(`/v1/dummies/${dummy.id}`, change)).body.data);
    views.push((await api.put(`/v1/dummies/${dummy.id}`, { text: 'Third' })).body.data);
    await api.graphql('mutation ($id: ID!) { updateDummy(id: $id, input: { text: "Last" }) { id } }', {
      id: dummy.id,
    });
    views.push(await api.dummies.get(dummy.id));
    await api.delete(`/v1/dummies/${dummy.id}`);

    const events = await since(start);

    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['dummy.created', views[0]],
      ...views.slice(1).map((view) => ['dummy.updated', view]),
      ['dummy.deleted', { id: dummy.id }],
    ]);
    for (const event of events) {
      expect(event).toEqual({
        specversion: '1.0',
        id: expect.stringMatching(/^[\da-f]{12}-\d+$/),
        source: api.config.publicUrl,
        type: event.type,
        subject: `/v1/dummies/${dummy.id}`,
        time: expect.laterThan('2026-01-01T00:00:00.000Z'),
        datacontenttype: 'application/json',
        data: event.data,
      });
    }
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    await shuffle(api, 'events');
    expect(await since(start)).toEqual(events);
  });

  it('contains JSON text verbatim, except for line breaks', async () => {
    const start = await newest();
    const payload = '{"b": 1.0,\r\n "a": 12345678901234567890}';
    const stub = await api.post('/v1/stubs', payload, { 'idempotency-key': 'to-the-letter' });
    expect(stub).toHaveStatus(201);
    await api.post('/v1/stubs', payload, { 'idempotency-key': 'to-the-letter' });

    const { text, body } = await api.get(`/v1/events?cursor=${start}`);

    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      type: 'stub.created',
      subject: `/v1/stubs/${stub.body.data.id}`,
    });
    expect(text).toContain('"text":{"b": 1.0,   "a": 12345678901234567890}');
  });

  it.each([
    ['an invalid body', 'VALIDATION_ERROR', () => api.post('/v1/dummies', { text: '' })],
    [
      'a change of what does not exist',
      'NOT_FOUND',
      () => api.patch('/v1/dummies/999999', { status: 'done' }),
    ],
    ['the deletion of what does not exist', 'NOT_FOUND', () => api.delete('/v1/dummies/999999')],
    [
      'a failed precondition',
      'PRECONDITION_FAILED',
      async () => {
        const { id } = await api.dummies.create();
        return api.patch(`/v1/dummies/${id}`, { text: 'x' }, { 'if-match': '"0-x"' });
      },
    ],
  ] as const)('has no event for %s', async (_, code, send) => {
    const before = await since('', 'dummy.updated,dummy.deleted');
    expect(await send()).toBeError(code);
    expect(await since('', 'dummy.updated,dummy.deleted')).toEqual(before);
  });

  it('continues from page to page, and from the end', async () => {
    const start = await newest();
    for (let n = 0; n < 5; n++) await api.dummies.create({ text: `Page ${n}` });
    const texts: string[] = [];
    let cursor = start;
    for (const [count, hasNext] of [
      [2, true],
      [2, true],
      [1, false],
    ] as const) {
      const { body } = await api.get(`/v1/events?limit=2&cursor=${cursor}`);
      expect([body.data.length, body.has_next]).toEqual([count, hasNext]);
      expect(body.next_cursor).toBe(body.data.at(-1).id);
      texts.push(...body.data.map(({ data }: any) => data.text));
      cursor = body.next_cursor;
    }
    expect(texts).toEqual([0, 1, 2, 3, 4].map((n) => `Page ${n}`));
    const end = await api.get(`/v1/events?cursor=${cursor}`);
    expect(end.body).toEqual({ data: [], has_next: false });
    const { id } = await api.dummies.create();
    expect((await since(cursor)).map(({ subject }) => subject)).toEqual([`/v1/dummies/${id}`]);
  });

  it('filters by event type, and an unknown type matches nothing', async () => {
    const start = await newest();
    const { id } = await api.dummies.create();
    await api.patch(`/v1/dummies/${id}`, { counter: 1 });
    const types = async (query: string) => (await since(start, query)).map(({ type }) => type);

    expect(await types('')).toEqual(['dummy.created', 'dummy.updated']);
    expect(await types('dummy.updated')).toEqual(['dummy.updated']);
    expect(await types('dummy.updated,dummy.created,dummy.updated')).toEqual([
      'dummy.created',
      'dummy.updated',
    ]);
    expect(await types('dummy.exploded')).toEqual([]);
    expect(await types('dummy.exploded,dummy.created')).toEqual(['dummy.created']);
    expect(await types("'; DROP TABLE events")).toEqual([]);
  });

  it.each(['x', '1', '-', 'ffffffffffff-1', '%00', `${'f'.repeat(12)}-99999999999999999999`])(
    'rejects the cursor %s',
    async (cursor) => {
      expect(await api.get(`/v1/events?cursor=${cursor}`)).toBeError('INVALID_CURSOR');
    },
  );

  it('rejects a cursor ahead of the log', async () => {
    await api.dummies.create();
    const [epoch, position] = (await newest()).split('-');
    expect(await api.get(`/v1/events?cursor=${epoch}-${Number(position) + 1}`)).toBeError('INVALID_CURSOR');
    expect(await api.get(`/v1/events?cursor=${epoch}-0`)).toBeError('INVALID_CURSOR');
    expect(await api.get(`/v1/events?cursor=${epoch}-0${position}`)).toBeError('INVALID_CURSOR');
  });

  it('sends the events of large resources in full', async () => {
    const start = await newest();
    const text = 'ä'.repeat(200_000);
    const dummy = await api.dummies.create({ text });
    await api.dummies.create();

    const events = await since(start);
    expect(events.map(({ data }) => data.text.length)).toEqual([text.length, 9]);
    expect(events[0].data.text === dummy.text).toBe(true);
  });
});

const PROTECTED = { settings: { WRITE_ACCESS: 'authenticated' }, modules: [FixtureModule] };
onEach('private events', PROTECTED, ({ api }) => {
  it('are visible to their owner and staff only', async () => {
    const ada = await api.accounts.logInNew('ada@example.com');
    const bob = await api.accounts.logInNew('bob@example.com');
    await api.post('/v1/dummies', { text: 'A' }, ada);
    await api.post('/v1/stubs', {}, { ...ada, 'idempotency-key': 'a' });
    await api.post('/v1/stubs', {}, { ...bob, 'idempotency-key': 'b' });
    await api.accounts.admin().setStaff('bob@example.com', true);
    const staff = bearer((await api.accounts.login('bob@example.com')).access);
    const subjects = async (headers: Record<string, string>, types = '') => {
      const { body } = await api.get(`/v1/events?types=${types}`, headers);
      return body.data.map(({ subject }: any) => subject);
    };

    expect(await subjects({})).toEqual(['/v1/dummies/1']);
    expect(await subjects(ada)).toEqual(['/v1/dummies/1', '/v1/stubs/1']);
    expect(await subjects(staff)).toEqual(['/v1/dummies/1', '/v1/stubs/1', '/v1/stubs/2']);
    expect(await subjects({}, 'stub.created')).toEqual([]);
    expect(await subjects(ada, 'stub.created')).toEqual(['/v1/stubs/1']);
    expect(await subjects(staff, 'stub.created')).toEqual(['/v1/stubs/1', '/v1/stubs/2']);
    expect(await api.get('/v1/events', bearer('nonsense'))).toBeError('TOKEN_NOT_VALID');
  });
});

describe.each(STORES)('old events on %s', (store) => {
  it('have consecutive positions despite rollbacks, and an id between two events is rejected', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    for (let n = 0; n < 4; n++) {
      await api.dummies.create();
      const work = api.rows.run(async () => {
        await api.app.get(DummiesService, { strict: false }).create({ text: 'Gone' });
        throw new Error('rolled back');
      });
      await expect(work).rejects.toThrow('rolled back');
    }
    const ids: string[] = (await api.get('/v1/events')).body.data.map(({ id }: any) => id);
    expect(ids.map((id) => Number(id.split('-')[1]))).toEqual([1, 2, 3, 4]);

    // A gap, as two PostgreSQL processes leave it when they number at the same moment.
    await api.rows.execute('DELETE FROM events WHERE position = 3');
    expect(await api.get(`/v1/events?cursor=${ids[2]}`)).toBeError('INVALID_CURSOR');
    expect(await api.get(`/v1/events/stream?last_event_id=${ids[2]}`)).toBeError('INVALID_CURSOR');
    expect((await api.get(`/v1/events?cursor=${ids[1]}`)).body.data).toHaveLength(1);
    // As after a purge.
    await api.rows.execute('DELETE FROM events WHERE position = 1');
    expect(await api.get(`/v1/events?cursor=${ids[0]}`)).toBeError('EVENTS_EXPIRED');

    // The same rules apply to an earlier epoch, but positions that a later epoch took over are gone.
    await api.app.get(EventAppender, { strict: false }).renewEpoch();
    await api.dummies.create();
    expect(await api.get(`/v1/events?cursor=${ids[2]}`)).toBeError('INVALID_CURSOR');
    expect(await api.get(`/v1/events?cursor=${ids[0]!.replace(/-.+/, '-5')}`)).toBeError('EVENTS_EXPIRED');
    await api.stop();
  });

  it('return 410 for ids that a lost server assigned, however often the service has restarted since', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    const numbering = api.app.get(EventAppender, { strict: false });
    const newest = async () => (await api.get('/v1/events')).body.data.at(-1).id;
    await api.dummies.create();
    await newest();
    await numbering.renewEpoch();
    // From here on, the database is one restored from a backup, without the events of this epoch.
    const { epoch: lost } = (await api.rows.one<{ epoch: string }>('SELECT epoch FROM event_log'))!;
    await numbering.renewEpoch();
    for (let n = 0; n < 2; n++) await api.dummies.create();
    const [other] = (await newest()).split('-');
    await numbering.renewEpoch();
    await api.dummies.create();
    await newest();

    for (const position of [2, 3, 4])
      expect(await api.get(`/v1/events?cursor=${lost}-${position}`)).toBeError('EVENTS_EXPIRED');
    expect(await api.get(`/v1/events?cursor=${lost}-1`)).toBeError('INVALID_CURSOR');
    expect(await api.get(`/v1/events?cursor=${other}-1`)).toBeError('INVALID_CURSOR');
    await api.stop();
  });

  it('are purged after the retention period, and their cursors return 410', async () => {
    const api = await startApi(store, { EVENTS_RETENTION_DAYS: '2' }, [FixtureModule]);
    await api.dummies.create();
    await api.dummies.create();
    api.moveClock(DAY);
    await api.dummies.create();
    const ids = (await api.get('/v1/events')).body.data.map(({ id }: any) => id);

    api.moveClock(2 * DAY + 3600_000);
    expect((await api.app.get(Purger).purge()).get('events')).toBe(2);

    expect((await api.get('/v1/events')).body.data.map(({ id }: any) => id)).toEqual([ids[2]]);
    expect(await api.get(`/v1/events?cursor=${ids[0]}`)).toBeError('EVENTS_EXPIRED');
    expect(await api.get(`/v1/events/stream?last_event_id=${ids[0]}`)).toBeError('EVENTS_EXPIRED');
    expect(await api.get(`/v1/events?cursor=${ids[2]}`)).toHaveStatus(200);

    api.moveClock(4 * DAY);
    await api.app.get(Purger).purge();
    expect(await api.get(`/v1/events?cursor=${ids[2]}`)).toBeError('EVENTS_EXPIRED');
    // Positions continue, so that no id repeats.
    await api.dummies.create();
    const [next] = (await api.get('/v1/events')).body.data;
    expect(Number(next.id.split('-')[1])).toBeGreaterThan(Number(ids[2].split('-')[1]));
    await api.stop();
  });

  it('stay private when their type no longer is', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    const ada = await api.accounts.logInNew('ada@example.com');
    for (const text of ['A', 'B']) await api.post('/v1/dummies', { text }, ada);
    const { data } = (await api.get('/v1/events')).body;
    const position = Number(data[0].id.split('-')[1]);
    await api.rows.execute('UPDATE events SET is_private = TRUE WHERE position = :position', { position });

    expect((await api.get('/v1/events')).body.data).toEqual([data[1]]);
    await api.stop();
  });

  it('are kept when what must happen before a purge fails, which the purge reports', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    await api.dummies.create();
    const feed = (await api.get('/v1/events')).body;
    api.app.get(EventPurge).beforePurge(() => Promise.reject(new Error('Not copied')));
    api.moveClock(100 * DAY);

    await expect(api.app.get(Purger).purge()).rejects.toThrow('Not copied');

    expect(feed.data).toHaveLength(1);
    expect((await api.get('/v1/events')).body).toEqual(feed);
    await api.stop();
  });

  it('keep their ids across a restart, and ids never repeat', async () => {
    let api = await startApi(store, {}, [FixtureModule]);
    await api.dummies.create();
    const [before] = (await api.get('/v1/events')).body.data;
    await api.restart();
    await api.dummies.create();

    const { body } = await api.get(`/v1/events?cursor=${before.id}`);
    expect(body.data).toHaveLength(1);
    expect(body.data[0].id).not.toBe(before.id);
    await api.stop();
  });
});

describe.each(STORES)('npm run events on %s', (store) => {
  it('tail --json prints the events of the feed, with the source of the service', async () => {
    const settings = { PORT: '4321' };
    const { environment, ...testStore } = await createStore(store);
    const all = { ...environment, ...settings };
    const api = await startApiOn(all, [FixtureModule], () => testStore.remove());
    await api.dummies.create();
    await api.dummies.create();
    const [first, second] = (await api.get('/v1/events')).body.data;
    const tail = spawn(process.execPath, ['dist/commands/events.js', 'tail', '--after', first.id, '--json'], {
      env: { ...environmentOfProcess(), ...all },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    tail.stdout.on('data', (chunk) => (output += String(chunk)));
    await until('it is printed', () => output.includes('\n')).finally(() => tail.kill('SIGINT'));
    await once(tail, 'exit');

    expect(JSON.parse(output)).toEqual(second);
    expect(second.source).toBe('http://127.0.0.1:4321');
    await api.stop();
  });

  it('tail ends quietly after its reader has gone', async () => {
    const { environment, ...testStore } = await createStore(store);
    const api = await startApiOn(environment, [FixtureModule], () => testStore.remove());
    for (let n = 0; n < 3; n++) await api.dummies.create();
    const [first] = (await api.get('/v1/events')).body.data;
    const script = `node dist/commands/events.js tail --after ${first.id} | head -n 1; echo \${PIPESTATUS[0]}`;
    const shell = spawn('bash', ['--norc', '-c', script], {
      env: { ...environmentOfProcess(), ...environment },
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      shell[name].on('data', (chunk) => (output[name] += String(chunk)));
    await api.dummies.create();
    const ended = once(shell, 'close');
    const more: Promise<unknown>[] = [];
    const timer = setInterval(() => more.push(api.dummies.create()), 300);
    await ended.finally(() => clearInterval(timer));
    // None may be under way when the service stops.
    await Promise.all(more);

    expect(output).toEqual({ stdout: expect.stringMatching(/^.+dummy\.created.+\n0\n$/), stderr: '' });
    await api.stop();
  });

  it('tail prints events as they happen, and renew-epoch changes the epoch of later ids', async () => {
    const { environment, ...testStore } = await createStore(store);
    const api = await startApiOn(environment, [FixtureModule], () => testStore.remove());
    await api.dummies.create({ text: 'Before' });
    const run = (...parameters: string[]) =>
      spawn(process.execPath, ['dist/commands/events.js', ...parameters], {
        env: { ...environmentOfProcess(), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const { data } = (await api.get('/v1/events')).body;
    const tail = run('tail', '--after', data[0].id, '--types', 'dummy.created');
    let output = '';
    tail.stdout.on('data', (chunk) => (output += String(chunk)));
    await api.dummies.create({ text: 'After' });
    await api.delete('/v1/dummies/2');
    await api.dummies.create({ text: 'Last' });
    await until('both are printed', () => output.includes('/v1/dummies/3'));
    tail.kill('SIGINT');
    const [code] = await once(tail, 'exit');

    expect(code).toBe(0);
    const lines = output.trim().split('\n');
    expect(lines.map((line) => line.split(/ +/).slice(2))).toEqual([
      ['dummy.created', '/v1/dummies/2'],
      ['dummy.created', '/v1/dummies/3'],
    ]);
    expect((await runCommand('events', ['renew-epoch'], { environment })).code).toBe(0);
    await api.dummies.create({ text: 'Again' });
    const later = (await api.get('/v1/events')).body;
    expect(later.data.at(-1).id.split('-')[0]).not.toBe(data[0].id.split('-')[0]);
    for (const wrong of [['x'], ['tail', '--after', 'x'], []]) {
      expect((await runCommand('events', wrong, { environment })).code).toBe(1);
    }
    await api.stop();
  });
});

it('on PORT=0, events and mails name the port that the service has', async () => {
  const store = await createStore(ANY_STORE);
  const service = await Service.withFixture(store.environment);
  await service.create();
  await service.fetch('/auth/register/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', name: 'Ada', password: PASSWORD }),
  });

  const { data } = (await (await service.fetch('/v1/events')).json()) as { data: { source: string }[] };
  expect(data.map(({ source }) => source)).toEqual([service.url]);
  const folder = join(store.environment['DATA_DIR']!, 'mail');
  // Before it is complete, the file has another name.
  const mails = async () => (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'));
  await until('the mail is sent', async () => (await mails()).length > 0);
  const [mail] = await mails();
  expect(await readFile(join(folder, mail!), 'utf8')).toContain(`${service.url}/account/`);
  await service.end();
  await store.remove();
});
