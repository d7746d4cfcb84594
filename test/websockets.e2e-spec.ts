import { once } from 'node:events';
import { get, type IncomingMessage, request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WsAdapter } from '@nestjs/platform-ws';
import { WebSocket } from 'ws';
import { createApp } from '../src/app.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { RoomsModule } from './recipes/guide/rooms/rooms.module.js';
import { bearer, type Reply, startApi, TestApi } from './support/api.js';
import { hasRedis, RedisServer } from './support/redis.js';
import { ANY_STORE, createStore } from './support/stores.js';
import { Subscriber } from './support/subscriber.js';
import { until } from './support/until.js';
import { tryUpgrade, upgrade } from './support/upgrade.js';
import { TicksModule } from './support/ticks.module.js';

const from = (address: string) => ({ 'x-forwarded-for': address });

/** Starts an application on a port, with subscriptions and a gateway. */
async function start(settings: Record<string, string> = {}): Promise<{ api: TestApi; url: string }> {
  const { environment, ...store } = await createStore(ANY_STORE);
  const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment, ...settings });
  const app = await createApp(config, {
    modules: [RoomsModule, TicksModule],
    configure: (created) => void created.useWebSocketAdapter(new WsAdapter(created)),
  });
  await app.listen(0, '127.0.0.1');
  return { api: new TestApi(app, config, () => store.remove()), url: await app.getUrl() };
}

async function listen(api: TestApi): Promise<{ api: TestApi; url: string }> {
  return { api, url: await api.listen() };
}

describe('an upgrade to WebSocket', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    ({ api, url } = await start({ RATE_LIMIT: '3/3600', TRUST_PROXY: '127.0.0.1' }));
  });
  afterAll(() => api.stop());

  it.each([
    ['subscriptions', '/graphql', '203.0.113.1'],
    ['a gateway', '/rooms', '203.0.113.2'],
  ])('counts as a request of the client that the trusted proxy reports: %s', async (_, path, address) => {
    for (let n = 0; n < 3; n++) expect(await tryUpgrade(url + path, from(address))).toBeUndefined();

    const rejected = await tryUpgrade(url + path, from(address));
    expect(rejected).toBeError('RATE_LIMITED');
    expect(rejected!.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/),
      'ratelimit-policy': '"default";q=3;w=3600',
      ratelimit: expect.stringMatching(/^"default";r=0;t=\d+$/),
    });
    expect(await api.get('/.well-known/jwks.json', from(address))).toBeError('RATE_LIMITED');
    // The address that the trusted proxy appended counts; earlier ones may be forged.
    expect(await tryUpgrade(url + path, from(`198.51.100.1, ${address}`))).toBeError('RATE_LIMITED');
    expect(await tryUpgrade(url + path, from(`${address}:4711`))).toBeError('RATE_LIMITED');
    expect(await tryUpgrade(url + path, from(`198.51.100.${path.length}`))).toBeUndefined();
  });

  it('has a request id and the rest of the limit in its response', async () => {
    const socket = new WebSocket(`${url}/graphql`.replace('http', 'ws'), 'graphql-transport-ws', {
      headers: from('203.0.113.9'),
    });
    const [accepted] = (await once(socket, 'upgrade')) as [IncomingMessage];
    socket.terminate();

    expect(accepted.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'ratelimit-policy': '"default";q=3;w=3600',
      ratelimit: expect.stringMatching(/^"default";r=2;t=\d+$/),
    });
  });

  it('counts an IPv6 client by its /64', async () => {
    for (const n of [1, 2, 3]) {
      expect(await tryUpgrade(`${url}/graphql`, from(`2001:db8:7:7::${n}`))).toBeUndefined();
    }
    expect(await tryUpgrade(`${url}/graphql`, from('2001:db8:7:7::9'))).toBeError('RATE_LIMITED');
  });
});

describe('an upgrade to WebSocket without a trusted proxy', () => {
  it('counts for the address of the connection, whatever the headers contain', async () => {
    const { api, url } = await start({ RATE_LIMIT: '3/3600', TRUST_PROXY: '192.0.2.1' });
    for (const n of [1, 2, 3]) {
      expect(await tryUpgrade(`${url}/graphql`, from(`203.0.113.${n}`))).toBeUndefined();
    }
    expect(await tryUpgrade(`${url}/graphql`, from('203.0.113.4'))).toBeError('RATE_LIMITED');
    await api.stop();
  });
});

describe('a rejected handshake', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    ({ api, url } = await start());
  });
  afterAll(() => api.stop());

  const VALID = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };
  const PATHS = ['/graphql', '/rooms'];

  /** Sends a handshake with other headers than those of a client library. @returns the response that rejects it */
  const handshake = async (path: string, changes: Record<string, string>, method = 'GET') => {
    const headers = Object.entries({ ...VALID, ...changes }).filter(([, value]) => value !== '');
    const sent = sendRequest(url + path, { method, headers: Object.fromEntries(headers) }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await text(response);
    return {
      status: response.statusCode!,
      headers: response.headers as Reply['headers'],
      body: body.startsWith('{') ? JSON.parse(body) : body,
      text: body,
    };
  };

  it.each(PATHS)('has the envelope and a request id: %s', async (path) => {
    const replies = [
      await handshake(path, { 'sec-websocket-key': '' }),
      await handshake(path, { 'sec-websocket-key': 'x' }),
      await handshake(path, { 'sec-websocket-version': '' }),
      await handshake(path, { 'sec-websocket-version': '7' }),
      await handshake(path, { 'sec-websocket-protocol': 'a,a' }),
      await handshake(path, { 'sec-websocket-protocol': ',' }),
    ];

    for (const reply of replies) expect(reply).toBeError('MALFORMED_REQUEST');
    expect(replies[3]!.headers['sec-websocket-version']).toBe('13, 8');
    const post = await handshake(path, {}, 'POST');
    expect(post).toBeError('METHOD_NOT_ALLOWED');
    expect(post.headers['allow']).toBe('GET');
  });
});

describe('the origins of CORS_ORIGINS', () => {
  it('apply to WebSockets: other pages are rejected, clients without an origin are not', async () => {
    const { api, url } = await start({
      CORS_ORIGINS: 'https://app.example',
      PUBLIC_URL: 'https://api.example/posts',
    });
    for (const path of ['/graphql', '/rooms']) {
      for (const origin of ['https://app.example', 'https://api.example', url]) {
        expect(await tryUpgrade(url + path, { origin })).toBeUndefined();
      }
      expect(await tryUpgrade(url + path)).toBeUndefined();
      for (const origin of ['https://evil.example', 'http://app.example', 'null', '']) {
        expect(await tryUpgrade(url + path, { origin })).toBeError('FORBIDDEN');
      }
      for (const [origin, host] of [
        ['http://service', 'service:80'],
        ['https://service', 'service:443'],
        ['http://service:1', 'Service:1'],
      ] as const) {
        expect(await tryUpgrade(url + path, { origin, host })).toBeUndefined();
      }
      for (const [origin, host] of [
        ['http://service', 'service:443'],
        ['null', ''],
      ] as const) {
        expect(await tryUpgrade(url + path, { origin, host })).toBeError('FORBIDDEN');
      }
    }
    await api.stop();
  });

  it('are any without a list', async () => {
    const { api, url } = await start();
    expect(await tryUpgrade(`${url}/graphql`, { origin: 'https://evil.example' })).toBeUndefined();
    await api.stop();
  });
});

(hasRedis ? describe : describe.skip)('WebSockets with Redis', () => {
  it('count towards the limit that all replicas share', async () => {
    const redis = await RedisServer.start();
    const settings = { RATE_LIMIT: '6/3600', TRUST_PROXY: '127.0.0.1', REDIS_URL: redis.url };
    const replicas = [await start(settings), await start(settings)] as const;
    let clients = 0;
    const accepted = async () => {
      const address = `203.0.113.${++clients}`;
      const rejections = [];
      for (let n = 0; n < 10; n++) {
        rejections.push(await tryUpgrade(`${replicas[n % 2]!.url}/graphql`, from(address)));
      }
      return rejections.filter((rejection) => rejection === undefined).length;
    };

    await until('both are connected', async () => (await accepted()) === 6);
    expect(await accepted()).toBe(6);
    for (const { api } of replicas) await api.stop();
    await redis.stop();
  });
});

describe('WebSockets', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    ({ api, url } = await start({ TRUST_PROXY: '127.0.0.1' }));
  });
  afterAll(() => api.stop());

  it('are limited to 50 per client, of both kinds together, until one is closed', async () => {
    const address = '203.0.113.9';
    const sockets: WebSocket[] = [];
    for (let n = 0; n < 50; n++) {
      const { socket } = await upgrade(url + (n % 2 ? '/graphql' : '/rooms'), from(address));
      sockets.push(socket!);
    }

    expect(await tryUpgrade(`${url}/graphql`, from(address))).toBeError('SERVICE_UNAVAILABLE');
    expect(await tryUpgrade(`${url}/rooms`, from(address))).toBeError('SERVICE_UNAVAILABLE');
    expect(await tryUpgrade(`${url}/graphql`, from('203.0.113.10'))).toBeUndefined();
    sockets[0]!.terminate();
    await until(
      'a connection is accepted again',
      async () => (await tryUpgrade(`${url}/rooms`, from(address))) === undefined,
    );
    for (const socket of sockets) socket.terminate();
  });

  it('are limited to 500 for a network, so that others can connect', async () => {
    const sockets: WebSocket[] = [];
    for (let n = 0; n < 500; n++) {
      const { socket } = await upgrade(`${url}/rooms`, from(`198.51.100.${n % 10}`));
      sockets.push(socket!);
    }

    expect(await tryUpgrade(`${url}/graphql`, from('198.51.100.99'))).toBeError('SERVICE_UNAVAILABLE');
    expect(await tryUpgrade(`${url}/graphql`, from('198.51.101.99'))).toBeUndefined();
    for (const socket of sockets) socket.terminate();
  });

  it('count an IPv4 client of a socket for both versions by its own address', async () => {
    const sockets: WebSocket[] = [];
    for (let n = 0; n < 60; n++) {
      const { socket } = await upgrade(`${url}/graphql`, from(`::ffff:192.0.2.${n}`));
      if (socket) sockets.push(socket);
    }

    expect(sockets).toHaveLength(60);
    for (const socket of sockets) socket.terminate();
  });

  it('work side by side for subscriptions and a gateway', async () => {
    const { socket } = await upgrade(`${url}/rooms`);
    socket!.send(JSON.stringify({ event: 'echo', data: 'hello' }));
    const [message] = await once(socket!, 'message');
    expect(JSON.parse(String(message))).toEqual({ event: 'echo', data: 'hello' });
    socket!.terminate();

    const client = new Subscriber(url);
    const { errors } = client.start('subscription { nope }');
    await until('it is rejected', () => errors.length > 0);
    expect(errors).toMatchObject([[{ extensions: { code: 'BAD_USER_INPUT' } }]]);
    await client.end();
  });

  it('are the only supported upgrade: a request that offers HTTP/2 gets its response', async () => {
    const request = get(`${url}/.well-known/jwks.json`, {
      headers: { connection: 'Upgrade', upgrade: 'h2c' },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();

    expect(response.statusCode).toBe(200);
  });

  it('accept no message of a gateway after the token has expired', async () => {
    await api.accounts.register('ada@example.com');
    const { socket } = await upgrade(
      `${url}/rooms`,
      bearer((await api.accounts.login('ada@example.com')).access),
    );
    const whoAmI = async () => {
      socket!.send(JSON.stringify({ event: 'whoami' }));
      const [message] = await once(socket!, 'message');
      return JSON.parse(String(message));
    };

    expect(await whoAmI()).toEqual({ event: 'whoami', data: 'ada@example.com' });
    api.moveClock(31 * 60_000);
    expect(await whoAmI()).toMatchObject({ event: 'exception' });
    api.moveClock(0);
    socket!.terminate();
  });
});

describe('an upgrade at an unknown path', () => {
  it.each([
    ['no gateway', async () => listen(await startApi(ANY_STORE, { RATE_LIMIT: '3/3600' }))],
    ['a gateway at another path', () => start({ RATE_LIMIT: '3/3600' })],
    [
      'no WebSockets at all',
      async () => listen(await startApi(ANY_STORE, { RATE_LIMIT: '3/3600', GRAPHQL_SUBSCRIPTIONS: 'off' })),
    ],
  ])('is rejected with a request id and the rest of the limit: with %s', async (_, startService) => {
    const { api, url } = await startService();

    const reply = await tryUpgrade(`${url}/nowhere`);
    expect(reply).toBeError('NOT_FOUND');
    expect(reply!.headers).toMatchObject({
      'x-request-id': expect.any(String),
      ratelimit: expect.stringMatching(/^"default";r=2;/),
    });
    await api.stop();
  });
});
