import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EventLog } from '../src/platform/changes/event-log.js';
import { EventStore } from '../src/platform/changes/event-store.js';
import { EVERY_EVENT } from '../src/platform/changes/stored-event.js';
import { EventStreams } from '../src/events/event-streams.js';
import { createApp } from '../src/app.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { Changes } from '../src/platform/changes/index.js';
import { bearer } from './support/accounts.js';
import { startApi } from './support/api.js';
import { EventClient } from './support/events-client.js';
import { onlyFake } from './support/fake-timers.js';
import { FixtureModule } from './support/fixture.module.js';
import { DummiesService } from './support/fixture/dummies.service.js';
import { DUMMY_EVENTS } from './support/fixture/dummy.view.js';
import { onEach } from './support/on-each.js';
import { createStore, STORES } from './support/stores.js';
import { TcpProxy } from './support/tcp-proxy.js';
import { until } from './support/until.js';

onEach('GET /v1/events/stream', { modules: [FixtureModule] }, ({ api }) => {
  let url: string;
  const open: EventClient[] = [];
  beforeAll(async () => {
    url = `${await api.listen()}/v1/events/stream`;
  });
  afterAll(() => open.forEach((client) => client.close()));
  const follow = async (query = '', options: Parameters<typeof EventClient.open>[1] = {}) => {
    const client = await EventClient.open(`${url}${query}`, options);
    open.push(client);
    return client;
  };

  const listed = async (): Promise<any[]> => (await api.get('/v1/events?limit=100')).body.data;
  const createStub = () => api.post('/v1/stubs', {}, { 'idempotency-key': randomUUID() });

  it('sends each event as it happens, starting with the next one', async () => {
    await api.dummies.create();
    const client = await follow();
    const dummy = await api.dummies.create({ text: 'Two\nlines \u2028 and more' });
    await createStub();

    const [first, second] = await client.untilEvents(2);

    expect(first).toMatchObject({
      type: 'dummy.created',
      data: { subject: `/v1/dummies/${dummy.id}`, data: dummy },
    });
    expect(second!.type).toBe('stub.created');
    expect([first!.id, second!.id]).toEqual([first!.data.id, second!.data.id]);
    expect(client.otherLines).toEqual(['retry: 2000']);
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      // Without chunks, a lost connection would look like the end of the stream.
      'transfer-encoding': 'chunked',
    });
    expect(client.response.headers['cache-control']).toBe('no-store');
    expect(client.response.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    expect(client.response.headers['access-control-allow-origin']).toBe('*');
    const { data } = (await api.get('/v1/events?limit=100')).body;
    expect(data.slice(-2)).toEqual([first!.data, second!.data]);
  });

  it('continues after another consumer has failed, and ends only that one', async () => {
    const log = api.app.get(EventLog, { strict: false });
    let calls = 0;
    const failures: unknown[] = [];
    const unfollow = log.follow({
      accept: () => {
        calls++;
        throw new Error('It fails');
      },
      fail: (error) => failures.push(error),
    });
    const client = await follow();
    await api.dummies.create();
    await client.untilEvents(1);
    await api.dummies.create();
    await client.untilEvents(2);

    expect(calls).toBe(1);
    expect(failures).toEqual([new Error('It fails')]);
    unfollow();
  });

  it('sends events without delay after the clock was set back', async () => {
    const client = await follow();
    jest.useFakeTimers({ now: Date.now() - 3600_000, ...onlyFake('Date') });
    try {
      for (let n = 1; n <= 3; n++) {
        await api.dummies.create();
        expect(await client.untilEvents(n)).toHaveLength(n);
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('filters by event type', async () => {
    const client = await follow('?types=stub.created,unknown');
    const none = await follow('?types=unknown');
    await api.dummies.create();
    await createStub();
    await createStub();
    await client.untilEvents(2);
    expect(client.events.map(({ type }) => type)).toEqual(['stub.created', 'stub.created']);
    expect(none.events).toEqual([]);
  });

  it('continues after any event, without gap or repetition', async () => {
    const before = await follow();
    for (let n = 0; n < 8; n++) await api.dummies.create({ text: n === 3 ? 'x'.repeat(500_000) : 'x' });
    await before.untilEvents(8);
    for (const [n, lastEventId] of before.ids.entries()) {
      const again = await follow('', { lastEventId });
      const inQuery = await follow(`?last_event_id=${lastEventId}`);
      for (const client of [again, inQuery]) {
        if (n < 7) await client.untilEvents(7 - n);
        expect(client.ids).toEqual(before.ids.slice(n + 1));
        client.close();
      }
    }
  });

  it('misses no event that happens while a client catches up', async () => {
    await api.dummies.create();
    await until('its event is shown', async () => (await listed()).length > 0);
    const start = (await listed())[0].id;
    const writing = { isOver: false };
    const writers = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!writing.isOver) await api.dummies.create();
      }),
    );
    const clients: EventClient[] = [];
    for (let n = 0; n < 8; n++) clients.push(await follow('', { lastEventId: start }));
    await clients[7]!.untilEvents(300);
    writing.isOver = true;
    await writers;
    const expected: string[] = [];
    for (let cursor = start, isMore = true; isMore;) {
      const { body } = await api.get(`/v1/events?limit=100&cursor=${cursor}`);
      expected.push(...body.data.map(({ id }: any) => id));
      cursor = body.next_cursor ?? cursor;
      isMore = body.has_next;
    }
    for (const client of clients) {
      await client.untilEvents(expected.length);
      expect(client.ids).toEqual(expected);
      client.close();
    }
  });

  it('misses no event that is passed on while a client that catches up finds no more', async () => {
    const log = api.app.get(EventLog, { strict: false });
    const store = api.app.get(EventStore, { strict: false });
    await api.dummies.create();
    await until('its event is shown', async () => (await listed()).length > 0);
    const read = store.read.bind(store);
    const texts: string[] = [];
    jest.spyOn(store, 'read').mockImplementation(async (position, wanted, limits) => {
      const rows = await read(position, wanted, limits);
      const isOfStream = limits.limit === 100;
      if (!isOfStream || rows.length > 0 || texts.length > 0) return rows;
      const { head } = log;
      texts.push((await api.dummies.create({ text: 'Meanwhile' })).text);
      await until('its event is passed on', () => log.head > head);
      return rows;
    });
    const client = await follow('', { lastEventId: (await listed()).at(-1).id });

    const ofIt = () => client.events.filter(({ data }) => data.data.text === 'Meanwhile');
    await until('the client has it', () => ofIt().length > 0);
    expect(ofIt()).toHaveLength(1);
  });

  it.each(['x', 'ffffffffffff-1', 'ffffffffffff-'])(
    'rejects the event id %s before the stream starts',
    async (id) => {
      expect(await api.get(`/v1/events/stream?last_event_id=${id}`)).toBeError('INVALID_CURSOR');
      expect(await api.get('/v1/events/stream', { 'last-event-id': id })).toBeError('INVALID_CURSOR');
    },
  );

  it('sends a comment at least every 15 seconds while there are no events', async () => {
    const client = await follow();
    const isComment = (line: string) => line.startsWith(':');
    await until('the first comment', () => client.otherLines.some(isComment), 15_000);
    expect(client.otherLines.filter((line) => !isComment(line))).toEqual(['retry: 2000']);
  });

  it('keeps the connection open after an error', async () => {
    const reply = await fetch(`${url}?last_event_id=x`);
    expect(reply.status).toBe(400);
    expect(reply.headers.get('connection')).toBe('keep-alive');
  });

  it('responds to HEAD without a stream', async () => {
    const reply = await fetch(url, { method: 'HEAD' });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
  });

  it('gives the place of a refused stream and of a HEAD back', async () => {
    for (let n = 0; n < 60; n++) {
      expect((await fetch(`${url}?last_event_id=x`)).status).toBe(400);
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    }

    await follow();
  });

  it('rejects the 51st stream of a client, until one is closed', async () => {
    for (const client of open) client.close();
    const clients: EventClient[] = [];
    const fill = async () => {
      try {
        while (clients.length < 50) clients.push(await follow());
        return true;
      } catch {
        return false;
      }
    };
    // The server notices closed connections with a delay.
    await until('50 streams are open', fill);

    expect(await api.get('/v1/events/stream')).toBeError('SERVICE_UNAVAILABLE');
    clients[0]!.close();
    await until('a stream can be opened again', () =>
      follow().then(
        () => true,
        () => false,
      ),
    );
    for (const client of clients) client.close();
  });

  it('keeps a client that reads, even during a burst of events', async () => {
    const reader = await follow();
    const data = { id: 1, text: 'x'.repeat(5000) };
    const events = Array.from({ length: 100 }, () => DUMMY_EVENTS.of('created', data));
    const [transactions, changes] = [api.app.get(Transactions), api.app.get(Changes)];
    // Several statements: a busy server cancels one with all the events.
    for (let n = 0; n < 10; n++)
      await transactions.run(async () => {
        for (const event of events) await changes.record(event);
      });

    expect(await reader.untilEvents(1000)).toHaveLength(1000);
    reader.close();
  });

  it('disconnects a client that does not read', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('GET /v1/events/stream HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const reader = await follow();
    const streams = api.app.get(EventStreams).size;
    const text = 'x'.repeat(900_000);
    let sent = 0;
    await until('the client is disconnected', async () => {
      await api.dummies.create({ text });
      await reader.untilEvents(++sent);
      return api.app.get(EventStreams).size < streams;
    });

    socket.destroy();
    await api.dummies.create();
    expect(await reader.untilEvents(sent + 1)).toHaveLength(sent + 1);
  });
});

describe.each(STORES)('streams on %s', (store) => {
  it('are limited to 500 for a network, so that others can follow', async () => {
    const api = await startApi(store, { TRUST_PROXY: '127.0.0.1' }, [FixtureModule]);
    const url = `${await api.listen()}/v1/events/stream`;
    const open = (address: string) =>
      EventClient.open(url, { headers: { 'x-forwarded-for': address } }).catch(() => undefined);
    const clients: (EventClient | undefined)[] = [];
    for (let n = 0; n < 500; n++) clients.push(await open(`198.51.100.${n % 10}`));

    expect(clients).not.toContain(undefined);
    const rejected = await api.get('/v1/events/stream', { 'x-forwarded-for': '198.51.100.99' });
    expect(rejected).toBeError('SERVICE_UNAVAILABLE');
    const other = await open('198.51.101.99');
    await api.dummies.create();
    expect(await other!.untilEvents(1)).toHaveLength(1);
    for (const client of [...clients, other]) client!.close();
    await api.stop();
  });

  it('end after the last event when the process drains', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    const client = await EventClient.open(`${await api.listen()}/v1/events/stream`);
    await api.dummies.create();
    await client.untilEvents(1);

    api.app.get(EventStreams, { strict: false }).onModuleDestroy();
    const late = await EventClient.open(`${await api.app.getUrl()}/v1/events/stream`);
    await until('a stream that was opened meanwhile has ended', () => late.isOver);
    await api.stop();

    await until('the stream has ended', () => client.isOver);
    expect(client.events).toHaveLength(1);
  });

  it('go on for who reads after a while, however much has happened since', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    const streams = api.app.get(EventStreams, { strict: false });
    const stream = await streams.open({ filter: EVERY_EVENT, after: undefined }, 'client');
    let passed = 0;
    api.app.get(EventLog, { strict: false }).follow({
      accept: ({ events }) => (passed += events.length),
      fail: () => undefined,
    });
    let bytes = 0;
    const read = () => {
      for (let chunk; (chunk = stream.read() as Buffer | null) !== null;) bytes += chunk.length;
      return bytes;
    };
    // Each time, 900 kB fit, and 900 kB are left in the database.
    for (let n = 2; n <= 6; n += 2) {
      for (let k = 0; k < 2; k++) await api.dummies.create({ text: 'x'.repeat(900_000) });
      await until('the stream has been told', () => passed === n);
      await until('all are read', () => read() > n * 900_000);
    }

    expect(stream.destroyed).toBe(false);
    stream.destroy();
    await api.stop();
  });

  it('send no earlier events if the process could not read the log at its start', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    for (let n = 0; n < 3; n++) await api.dummies.create();
    await api.get('/v1/events');
    await api.rows.execute('ALTER TABLE event_log RENAME TO gone');
    await api.restart();
    const positions: number[] = [];
    api.app.get(EventLog, { strict: false }).follow({
      accept: ({ events }) => positions.push(...events.map(({ position }) => position)),
      fail: () => undefined,
    });
    await api.rows.execute('ALTER TABLE gone RENAME TO event_log');
    await until('an event has arrived', async () => {
      await api.dummies.create();
      return positions.length > 0;
    });

    expect(positions[0]).toBeGreaterThan(3);
    await api.stop();
  });

  it('send private events to their owner and staff only', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    const url = `${await api.listen()}/v1/events/stream`;
    const ada = await api.accounts.logInNew('ada@example.com');
    const bob = await api.accounts.logInNew('bob@example.com');
    const staff = await api.accounts.logInNewStaff();
    const clients = await Promise.all(
      [{}, ada, bob, staff].map((headers) => EventClient.open(url, { headers })),
    );
    await api.post('/v1/stubs', {}, { ...ada, 'idempotency-key': 'a' });
    await api.post('/v1/dummies', { text: 'A' }, ada);
    await Promise.all(clients.map((client, n) => client.untilEvents([1, 2, 1, 2][n]!)));

    const both = ['stub.created', 'dummy.created'];
    expect(clients.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ['dummy.created'],
      both,
      ['dummy.created'],
      both,
    ]);
    expect(await api.get('/v1/events/stream', bearer('nonsense'))).toBeError('TOKEN_NOT_VALID');
    await api.stop();
  });
});

describe('between two replicas', () => {
  it('events arrive, also those that were committed while the reader had no connection', async () => {
    const store = await createStore('PostgreSQL');
    const { proxy, url } = await TcpProxy.to(store.environment['DATABASE_URL']!);
    const config = { NODE_ENV: 'test', LOG_LEVEL: 'silent', ...store.environment };
    const modules = [FixtureModule];
    const writer = await createApp(loadConfig(config), { modules });
    const reader = await createApp(loadConfig({ ...config, DATABASE_URL: url }), { modules });
    // The promise is a second; `bench:events` measures it.
    expect(reader.get(EventLog, { strict: false }).interval).toBeLessThan(1000);
    await reader.listen(0, '127.0.0.1');
    const client = await EventClient.open(`${await reader.getUrl()}/v1/events/stream`);
    const create = () => writer.get(DummiesService, { strict: false }).create({ text: 'A' });
    await create();
    await client.untilEvents(1);

    await proxy.cut();
    await create();
    await proxy.restore();
    await create();
    await client.untilEvents(3);

    expect(client.events.map(({ data }) => data.subject)).toEqual([1, 2, 3].map((id) => `/v1/dummies/${id}`));
    client.close();
    await reader.close();
    await writer.close();
    await proxy.close();
    await store.remove();
  });
});
