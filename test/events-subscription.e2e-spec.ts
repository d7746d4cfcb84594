import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { ConsumerLimits } from '../src/events/event-streams.js';
import { EventLog } from '../src/platform/changes/index.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { EventClient } from './support/events-client.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

describe.each(STORES)('subscription { events } on %s', (store) => {
  let api: TestApi;
  let url: string;
  let token: string;
  const clients: Client[] = [];
  beforeAll(async () => {
    api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    await api.app.listen(0, '127.0.0.1');
    url = await api.app.getUrl();
    await api.accounts.register('ada@example.com');
    token = (await api.accounts.login('ada@example.com')).access;
  });
  afterAll(async () => {
    for (const client of clients) await client.dispose();
    await api.stop();
  });

  /** Starts a subscription that collects its results; `untilOpen` waits until it is open. */
  const subscribe = async (selection: string, connectionParams: Record<string, string> = {}) => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams,
    });
    clients.push(client);
    const results: any[] = [];
    const finished = client.subscribe(
      { query: `subscription { events${selection} }` },
      {
        next: (result) => results.push(result),
        error: (error) => results.push({ error }),
        complete: () => undefined,
      },
    );
    return { results, end: finished };
  };
  const headers = () => ({ authorization: `Bearer ${token}` });
  const createSample = async (text: string) => (await api.post('/v1/samples', { text }, headers())).body.data;
  /** Creates samples until one arrives, because graphql-ws does not report when a subscription is open. */
  const untilOpen = async (results: any[]) => {
    await until('a result has arrived', async () => {
      await createSample('Probe');
      return results.length > 0;
    });
    const count = results.length;
    return count;
  };

  it('sends the same events as the stream', async () => {
    const stream = await EventClient.open(`${url}/v1/events/stream?types=sample.created`);
    const { results, end } = await subscribe('(types: ["sample.created"]) { id type subject time data }');
    await untilOpen(results);
    const sample = await createSample('The last');
    await until('the last one has arrived', () => results.at(-1).data.events.data.text === 'The last');
    const isLast = () => stream.events.at(-1)?.data.data.text === 'The last';
    await until('it is on the stream', isLast);

    const sent = stream.events
      .slice(-results.length)
      .map(({ data: { id, type, subject, time, data } }) => ({ id, type, subject, time, data }));
    expect(results.map(({ data }) => data.events)).toEqual(sent);
    expect(results.at(-1).data.events.data).toEqual(sample);
    end();
    stream.close();
  });

  it('sends private events to their owner only', async () => {
    const anonymous = await subscribe(' { type }');
    const owner = await subscribe(' { type }', { Authorization: `Bearer ${token}` });
    await untilOpen(anonymous.results);
    await untilOpen(owner.results);
    await api.post('/v1/tickets', {}, { ...headers(), 'idempotency-key': 'one' });
    const types = (results: any[]) => results.map(({ data }) => data.events.type);
    await until('the owner has it', () => types(owner.results).includes('ticket.created'));
    const count = anonymous.results.length;
    await createSample('After');
    await until('a later event has arrived', () => anonymous.results.length > count);

    expect(types(anonymous.results)).not.toContain('ticket.created');
    anonymous.end();
    owner.end();
  });

  it('survives clients that reset the connection during the upgrade', async () => {
    const { hostname, port } = new URL(url);
    const upgrade = 'HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const resets = Array.from({ length: 40 }, async (_, n) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(`GET ${n % 2 ? '/graphql' : '/other'} ${upgrade}`, () => socket.resetAndDestroy());
      await once(socket, 'close');
    });
    await Promise.all(resets);

    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it('ends with an error, not as completed, for a client that is too slow', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const messages: any[] = [];
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    send({ type: 'connection_init' });
    await until('it is acknowledged', () => messages.length > 0);
    send({ id: '1', type: 'subscribe', payload: { query: 'subscription { events { id data } }' } });
    await until('it is open', async () => {
      await createSample('Probe');
      return messages.some(({ type }) => type === 'next');
    });
    socket.pause();
    const stream = await EventClient.open(`${url}/v1/events/stream`);
    const text = 'Large'.repeat(180_000);
    // More than the buffers of both sockets can hold.
    for (let n = 0; n < 30; n++) await api.post('/v1/samples', { text }, headers());
    await stream.untilEvents(30);
    stream.close();
    socket.resume();
    await until('it has ended', () => ['error', 'complete'].includes(messages.at(-1).type));

    expect(messages.at(-1)).toMatchObject({
      id: '1',
      type: 'error',
      payload: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
    });
    expect(
      messages.filter(({ payload }) => payload?.data?.events.data.text.startsWith('Large')).length,
    ).toBeLessThan(30);
    socket.close();
  });

  it('misses no event that happens while it starts', async () => {
    const log = api.app.get(EventLog, { strict: false });
    const limits = api.app.get(ConsumerLimits, { strict: false });
    const [enter, catchUp] = [limits.enter.bind(limits), log.catchUp.bind(log)];
    let isStarting = false;
    jest.spyOn(limits, 'enter').mockImplementation((address) => {
      isStarting = true;
      return enter(address);
    });
    jest.spyOn(log, 'catchUp').mockImplementation(async () => {
      const isOfSubscription = isStarting;
      isStarting = false;
      const position = await catchUp();
      if (!isOfSubscription) return position;
      await createSample('While it starts');
      await until('the log has passed it on', () => log.head > position);
      return position;
    });
    const { results, end } = await subscribe(' { type data }');
    await until('the event has arrived', () => results.length > 0);

    expect(results[0].data.events).toMatchObject({
      type: 'sample.created',
      data: { text: 'While it starts' },
    });
    end();
  });

  it('rejects too many members and array elements in variables', async () => {
    const client = createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket });
    clients.push(client);
    const failed = new Promise<unknown>((resolve) => {
      client.subscribe(
        {
          query: 'subscription { events { id } }',
          variables: { list: Array.from({ length: 10_001 }, () => 0) },
        },
        { next: () => undefined, error: resolve, complete: () => undefined },
      );
    });

    expect(await failed).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it('applies the limits of queries', async () => {
    const { results } = await subscribe(
      ` { ${Array.from({ length: 40 }, (_, n) => `a${n}: id`).join(' ')} }`,
    );
    await until('it is rejected', () => results.length > 0);
    expect(JSON.stringify(results[0])).toContain('QUERY_TOO_COMPLEX');
  });
});
