import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WebSocket } from 'ws';
import { ConsumerLimits } from '../src/events/event-streams.js';
import { EventLog } from '../src/platform/changes/index.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { EventClient } from './support/events-client.js';
import { STORES } from './support/stores.js';
import { Subscriber } from './support/subscriber.js';
import { until } from './support/until.js';

describe.each(STORES)('subscription { events } on %s', (store) => {
  let api: TestApi;
  let url: string;
  let token: string;
  const clients: Subscriber[] = [];
  beforeAll(async () => {
    api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    url = await api.listen();
    await api.accounts.register('ada@example.com');
    token = (await api.accounts.login('ada@example.com')).access;
  });
  afterAll(async () => {
    for (const client of clients) await client.end();
    await api.stop();
  });

  /** Starts a subscription; `untilOpen` waits until it is open. */
  const subscribe = (selection: string, connectionParams: Record<string, string> = {}, variables = {}) => {
    const client = new Subscriber(url, connectionParams);
    clients.push(client);
    return client.start(`subscription { events${selection} }`, variables);
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
    const { results } = subscribe('(types: ["sample.created"]) { id type subject time data }');
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
    stream.close();
  });

  it('sends private events to their owner only', async () => {
    const anonymous = subscribe(' { type }');
    const owner = subscribe(' { type }', { Authorization: `Bearer ${token}` });
    await untilOpen(anonymous.results);
    await untilOpen(owner.results);
    await api.post('/v1/tickets', {}, { ...headers(), 'idempotency-key': 'one' });
    const types = (results: any[]) => results.map(({ data }) => data.events.type);
    await until('the owner has it', () => types(owner.results).includes('ticket.created'));
    const count = anonymous.results.length;
    await createSample('After');
    await until('a later event has arrived', () => anonymous.results.length > count);

    expect(types(anonymous.results)).not.toContain('ticket.created');
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
    const { results } = subscribe(' { type data }');
    await until('the event has arrived', () => results.length > 0);

    expect(results[0].data.events).toMatchObject({
      type: 'sample.created',
      data: { text: 'While it starts' },
    });
  });

  it('rejects too many members and array elements in variables', async () => {
    const { errors } = subscribe(' { id }', {}, { list: Array.from({ length: 10_001 }, () => 0) });
    await until('it is rejected', () => errors.length > 0);
    expect(errors[0]).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it('applies the limits of queries', async () => {
    const { errors } = subscribe(` { ${Array.from({ length: 40 }, (_, n) => `a${n}: id`).join(' ')} }`);
    await until('it is rejected', () => errors.length > 0);
    expect(JSON.stringify(errors[0])).toContain('QUERY_TOO_COMPLEX');
  });
});
