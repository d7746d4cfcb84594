import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WebSocket } from 'ws';
import { startApi, type TestApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';
import { Subscriber } from './support/subscriber.js';
import { TicksModule } from './support/ticks.module.js';
import { until } from './support/until.js';
import { upgrade } from './support/upgrade.js';

async function start(settings: Record<string, string> = {}): Promise<{ api: TestApi; url: string }> {
  const api = await startApi(ANY_STORE, settings, [TicksModule]);
  return { api, url: await api.listen() };
}

describe('the id of an operation over WebSocket', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    ({ api, url } = await start());
  });
  afterAll(() => api.stop());

  const open = async () => {
    const socket = new WebSocket(`${url}/graphql`.replace('http', 'ws'), 'graphql-transport-ws');
    const messages: any[] = [];
    socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ type: 'connection_init' });
    await until('it is acknowledged', () => messages.length > 0);
    const subscribeAs = (id: string) =>
      send({ type: 'subscribe', id, payload: { query: 'subscription { ticks }' } });
    return { socket, messages, subscribeAs };
  };

  it.each(['one', 'x'.repeat(128), '😀'.repeat(64)])(
    'is used once at a time; a second use closes the connection with 4409: %s',
    async (id) => {
      const { socket, messages, subscribeAs } = await open();
      subscribeAs(id);
      subscribeAs(id);
      const [code] = await once(socket, 'close');

      expect(code).toBe(4409);
      expect(messages).toHaveLength(1);
    },
  );

  it('has at most 128 characters', async () => {
    const { socket, messages, subscribeAs } = await open();
    subscribeAs('x'.repeat(129));
    await until('it is rejected', () => messages.length > 1);

    expect(messages[1]).toMatchObject({
      type: 'error',
      payload: [
        {
          message: 'The id of an operation has at most 128 characters',
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ],
    });
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.close();
  });
});

describe('an operation on a WebSocket', () => {
  it('counts as a request, and is rejected without closing the connection', async () => {
    const { api, url } = await start({ RATE_LIMIT: '4/3600' });
    const client = new Subscriber(url);
    // The connection itself is the first request.
    const accepted = [1, 2, 3].map(() => client.start('subscription { ticks }').errors);
    const rejected = client.start('subscription { ticks }').errors;
    await until('it is rejected', () => rejected.length > 0);

    expect(rejected).toEqual([
      [expect.objectContaining({ extensions: expect.objectContaining({ code: 'RATE_LIMITED' }) })],
    ]);
    expect(accepted).toEqual([[], [], []]);
    expect(await api.get('/.well-known/jwks.json')).toBeError('RATE_LIMITED');
    await client.end();
    await api.stop();
  });
});

describe('a client of subscriptions that breaks the protocol', () => {
  it.each([
    ['more than 256 KiB', Buffer.alloc(256 * 1024 + 1, 'x'), 1009],
    ['a text that is not UTF-8', Buffer.from([0xff]), 1007],
  ])('is disconnected, which is no error: %s', async (_, message, expected) => {
    const reported = jest.spyOn(console, 'error');
    const { api, url } = await start();
    const { socket } = await upgrade(`${url}/graphql`);
    const closed = once(socket!, 'close');

    socket!.send(message, { binary: false });

    const [code] = await closed;
    expect(code).toBe(expected);
    await api.stop();
    expect(reported).not.toHaveBeenCalled();
  });
});

describe('a client of subscriptions that sends but does not read', () => {
  it('is disconnected, which is no error', async () => {
    // `graphql-ws` reports errors here.
    const reported = jest.spyOn(console, 'error');
    const { api, url } = await start();
    const { socket } = await upgrade(`${url}/graphql`);
    socket!.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket!, 'message');
    socket!.pause();
    const connections = promisify((done: (error: Error | null, count: number) => void) =>
      api.app.getHttpServer().getConnections(done),
    );
    expect(await connections()).toBe(1);
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(250_000) } });
    // The kernel buffers some megabytes before data queues in the service.
    for (let n = 0; n < 200; n++) socket!.send(ping, () => undefined);

    await until('the service has closed the connection', async () => (await connections()) === 0);
    socket!.terminate();
    await api.stop();
    expect(reported).not.toHaveBeenCalled();
  });
});

describe('introspection over WebSocket', () => {
  it('is rejected with the name of the setting, if it is off', async () => {
    const { api, url } = await start({ GRAPHQL_INTROSPECTION: 'off' });
    const client = new Subscriber(url);
    const { errors } = client.start('{ __schema { queryType { name } } }');

    await until('it is rejected', () => errors.length > 0);

    expect(JSON.stringify(errors[0])).toContain('the setting GRAPHQL_INTROSPECTION=on turns it on');
    await client.end();
    await api.stop();
  });
});
