import { once } from 'node:events';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { All, Controller, Get, Module, StreamableFile } from '@nestjs/common';
import { beforeAll, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Public } from '../src/platform/access/index.js';
import { KeepsOpen } from '../src/platform/http/route-config.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { watchTexts } from './support/statements.js';
import { until } from './support/until.js';

const KIB = 1024;

/** The memory of all large responses, in bytes. */
const MAX = 256 * KIB * KIB;

/** The metric of requests that are in progress. */
const ACTIVE = 'http_server_active_requests';

/** The metric of the memory of large responses. */
const HELD = 'http_server_held_response_bytes';

/** Handlers that respond when the test lets them. */
let gate = Promise.withResolvers<void>();
let waiting = 0;

@Controller({ path: 'gated', version: '1' })
@Public()
class GatedController {
  @All()
  async respond(): Promise<StreamableFile | string> {
    waiting++;
    await gate.promise;
    waiting--;
    return 'x'.repeat(16 * 1024 * KIB);
  }

  /** Begins a response that does not end. */
  @Get('open')
  @KeepsOpen()
  open(): StreamableFile {
    const stream = new Readable({ read: () => undefined });
    stream.push('Begins');
    return new StreamableFile(stream);
  }

  @Get('stream')
  async stream(): Promise<StreamableFile> {
    waiting++;
    await gate.promise;
    waiting--;
    return new StreamableFile(Readable.from(['x'.repeat(16 * 1024 * KIB)]));
  }
}

@Module({ controllers: [GatedController] })
class GatedModule {}

const SETTINGS = { METRICS_PORT: '0', TRUST_PROXY: '127.0.0.1' };
onEach('large responses', { settings: SETTINGS, modules: [FixtureModule, GatedModule] }, ({ api }) => {
  let origin: string;
  let port: number;
  beforeAll(async () => {
    const sizes = [10, 8 * KIB, 8 * KIB + 1, ...Array.from({ length: 37 }, () => 490_000)];
    for (const size of sizes) await api.dummies.create({ text: 'é'.repeat(size) });
    await api.listen();
    const server = api.app.getHttpServer() as Server;
    ({ port } = server.address() as AddressInfo);
    server.on('connection', (socket) => {
      accepted.add(socket);
      socket.once('close', () => accepted.delete(socket));
    });
    origin = `http://127.0.0.1:${port}`;
  });

  /** The connections, as the service has them. */
  const accepted = new Set<Socket>();

  /** Waits until the responses of some connections have filled the buffers, so that nothing more is loaded for them. */
  const untilBlocked = (count: number) =>
    until('the buffers are full', () => {
      const blocked = [...accepted].filter(({ writableNeedDrain }) => writableNeedDrain);
      return blocked.length === count;
    });

  it.each([
    ['/v1/dummies?limit=5&page=1', 5],
    ['/v1/dummies?limit=5&page=7', 5],
    ['/v1/dummies?cursor=&limit=5', 5],
  ])('%s is streamed with the same content as in one piece', async (url, count) => {
    const response = await fetch(origin + url);
    const { data, ...rest } = (await response.json()) as any;

    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('link')).toContain('rel="next"');
    expect(data).toHaveLength(count);
    for (const dummy of data) {
      const one = (await api.get(`/v1/dummies/${dummy.id}`)).body.data;
      expect(dummy).toEqual(one);
      expect(Object.keys(dummy)).toEqual(Object.keys(one));
    }
    const whole = (await api.get(url.replace(/limit=\d/, 'limit=2'))).body;
    expect(Object.keys(rest)).toEqual(Object.keys(whole).slice(1));
  });

  it('use little memory, do not delay other requests, and wait for slow clients', async () => {
    const { loaded, stop } = watchTexts();
    const readers = Array.from({ length: 12 }, (_, n) => hold(`192.0.2.${n}`));
    await untilBlocked(12);

    // A few for each connection: those in its buffers, and those that wait.
    expect(loaded.length).toBeLessThan(12 * 12);
    expect(loaded.length).toBeGreaterThanOrEqual(12);
    for (const ids of loaded) expect(ids).toHaveLength(1);
    expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${origin}/v1/dummies/1`)).status).toBe(200);
    for (const socket of readers) socket.destroy();
    stop();
  });

  it('that are not read do not block large requests of other clients', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(100 * KIB) });
    const sockets = Array.from({ length: 8 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /v1/gated/open HTTP/1.1\r\nHost: x\r\n\r\n');
      socket.write(
        `POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return socket;
    });
    // Node.js passes a request on, although the response to the one before it has not ended.
    await until('the requests have arrived', async () => (await metric(ACTIVE)) >= 2 * sockets.length);

    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${origin}/v1/dummies`, { method: 'POST', headers, body });
    expect(response.status).toBe(201);
    await response.text();
    for (const socket of sockets) socket.destroy();
  });

  it('return 503 beyond their total limit, until clients have read them or disconnected', async () => {
    await untilNothingIsHeld();
    const sockets = Array.from({ length: 16 }, (_, n) => hold(`192.0.2.${n}`));
    await untilHeld(MAX);
    const rejected = await fetch(`${origin}/v1/dummies?limit=100`);
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get('retry-after')).not.toBeNull();
    await rejected.text();
    expect((await fetch(`${origin}/v1/dummies/1`)).status).toBe(200);
    const inGraphql = await api.graphql('{ dummy(id: 1) { peers(limit: 15) { text } } }');
    expect(inGraphql).toHaveStatus(503);
    const created = await api.post('/v1/dummies', { text: 'x'.repeat(100 * KIB) });
    expect(created).toHaveStatus(201);

    for (const socket of sockets) socket.destroy();
    await until(
      'large responses are accepted',
      async () => (await fetch(`${origin}/v1/dummies?limit=3&page=19`)).status === 200,
    );
  });

  it('that one client does not read leave half of the limit to others, each of which can use it', async () => {
    await untilNothingIsHeld();
    const sockets = Array.from({ length: 8 }, () => hold('192.0.2.1'));
    await untilHeld(MAX / 2);
    expect(await statusFor('192.0.2.1')).toBe(503);
    // The /64 of an IPv6 client is one client.
    for (let n = 0; n < 2; n++) sockets.push(hold(`2001:db8:1:1::${n}`));
    await untilHeld(MAX / 2 + 32 * KIB * KIB);
    expect(await statusFor('2001:db8:1:1::9')).toBe(503);
    expect(await statusFor('2001:db8:1:2::9')).toBe(200);

    for (const socket of sockets) socket.destroy();
    await untilNothingIsHeld();
    expect(await statusFor('192.0.2.1')).toBe(200);
  });

  it.each([
    ['a text', 'GET /v1/gated HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a stream', 'GET /v1/gated/stream HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a write', 'POST /v1/gated HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'],
    [
      'a response behind another one',
      'GET /v1/gated/open HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/gated HTTP/1.1\r\nHost: x\r\n\r\n',
    ],
  ])('free their memory when the client has left before %s is ready', async (_, request) => {
    const open = async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(request);
      return socket;
    };
    gate = Promise.withResolvers();
    const others = await connections();
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const sockets = await Promise.all(Array.from({ length: 20 }, open));
    await until('the handlers run', () => waiting === 20);
    for (const socket of sockets) socket.destroy();
    await until('the connections are closed', async () => (await connections()) <= others);
    gate.resolve();
    await until('the handlers have ended', () => waiting === 0);

    const response = await fetch(`${origin}/v1/dummies?limit=100`);
    await response.body?.cancel();
    expect(response.status).toBe(200);
    await untilNothingIsHeld();
    expect(await metric(ACTIVE)).toBe(0);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  const untilHeld = (bytes: number) =>
    until(`${bytes} bytes are held`, async () => (await metric(HELD)) === bytes);
  const untilNothingIsHeld = () => untilHeld(0);

  /** A client that asks for a large response, and accepts what fits into the buffers, and nothing more. */
  function hold(address: string): Socket {
    const socket = connect(port, '127.0.0.1').pause();
    socket.write(`GET /v1/dummies?limit=100 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`);
    return socket;
  }

  /** The status of a large response, which the client does not read. */
  async function statusFor(address: string): Promise<number> {
    const response = await fetch(`${origin}/v1/dummies?limit=100`, {
      headers: { 'x-forwarded-for': address },
    });
    await response.body?.cancel();
    return response.status;
  }

  /** A request whose response stops once the buffers are full. */
  async function requestAndWait(url: string) {
    const socket = connect(port, '127.0.0.1').pause();
    socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await untilBlocked(1);
    return socket;
  }

  const connections = (): Promise<number> => {
    const server = api.app.getHttpServer();
    return promisify(server.getConnections.bind(server))();
  };

  async function metric(name: string): Promise<number> {
    const lines = await api.app.get(Registry).metrics();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(lines)?.[1]);
  }

  it('omit rows that are deleted in the meantime', async () => {
    const own = await api.dummies.create({ text: 'Short-lived'.repeat(10 * KIB) });
    const socket = await requestAndWait('/v1/dummies?cursor=&limit=100');
    expect(await api.delete(`/v1/dummies/${own.id}`)).toHaveStatus(204);

    const received = await text(socket);
    expect(received).toContain('"has_next":false}');
    expect(received).not.toContain('Short-lived');
  });

  it('close the connection when the database fails in the middle', async () => {
    const socket = await requestAndWait('/v1/dummies?cursor=&limit=100');
    await api.rows.execute('ALTER TABLE dummies RENAME TO dummies_away');

    const [received] = await Promise.all([text(socket).catch(() => 'reset'), once(socket, 'close')]);
    await api.rows.execute('ALTER TABLE dummies_away RENAME TO dummies');
    expect(received).not.toContain('"has_next"');
    expect(await api.get('/v1/dummies/1')).toHaveStatus(200);
  });

  it('respond to HEAD without a body', async () => {
    const { loaded, stop } = watchTexts();
    const response = await fetch(`${origin}/v1/dummies?limit=4`, { method: 'HEAD' });
    expect(loaded).toEqual([]);
    stop();

    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});
