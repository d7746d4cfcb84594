import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { beforeAll, expect, it } from '@jest/globals';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';
import { until } from './support/until.js';

const MIB = 1024 * 1024;

/** How many bodies of 1 MiB a process takes at a time, and how many of these of one client. */
const [ALL, SHARE] = [64, 16];

const FRAME = '{"text":"T","more":""}';
const LARGEST = FRAME.replace('""', `"${'c'.repeat(MIB - FRAME.length)}"`);

interface Sent {
  readonly request: ClientRequest;
  /** `undefined` if the connection was closed without a response. */
  readonly response: Promise<IncomingMessage | undefined>;
  /** The connection, as the service has it. */
  readonly socket: Socket;
}

const OPTIONS = {
  stores: [ANY_STORE],
  settings: { TRUST_PROXY: '127.0.0.1' },
  modules: [FixtureModule],
};
onEach('the memory of bodies', OPTIONS, ({ api }) => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    url = await api.listen();
    server = api.app.getHttpServer();
  });

  /** Sends a request, whose body is not complete, and waits until it has arrived. */
  async function begin(address: string, text: string, headers: object = {}): Promise<Sent> {
    const arrived = once(server, 'request');
    const request = httpRequest(`${url}/v1/dummies`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    });
    const response = new Promise<IncomingMessage | undefined>((resolve) => {
      request.on('response', (received) => {
        received.resume();
        received.on('error', () => undefined);
        resolve(received);
      });
      request.on('error', () => resolve(undefined));
    });
    request.write(text);
    const [{ socket }] = (await arrived) as [IncomingMessage];
    return { request, response, socket };
  }

  const beginLargest = (address: string) =>
    begin(address, LARGEST.slice(0, -1), { 'content-length': LARGEST.length });

  async function beginMany(count: number, one: () => Promise<Sent>): Promise<Sent[]> {
    const bodies: Sent[] = [];
    while (bodies.length < count) bodies.push(await one());
    return bodies;
  }

  async function finish(bodies: readonly Sent[]): Promise<Set<number | undefined>> {
    for (const { request } of bodies) request.end('}');
    return new Set(await Promise.all(bodies.map(async ({ response }) => (await response)?.statusCode)));
  }

  /** That a client may use all its share again. */
  async function expectNothingHeld(address: string): Promise<void> {
    const bodies = await beginMany(SHARE, () => beginLargest(address));
    const { response } = await begin(address, '{', { 'content-length': 2 });
    expect((await response)?.statusCode).toBe(503);
    expect(await finish(bodies)).toEqual(new Set([201]));
  }

  it('is bounded, and a quarter of it may be of one client', async () => {
    const clients = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
    const accepted: Sent[] = [];
    for (const client of clients) {
      accepted.push(...(await beginMany(SHARE, () => beginLargest(client))));
      const { response } = await begin(client, '{', { 'content-length': 2 });
      const refused = (await response)!;
      expect(refused.statusCode).toBe(503);
      expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': expect.any(String) });
    }
    expect(accepted).toHaveLength(ALL);
    expect((await (await beginLargest('192.0.2.5')).response)?.statusCode).toBe(503);
    expect(await api.get('/v1/dummies')).toHaveStatus(200);

    expect(await finish(accepted)).toEqual(new Set([201]));
    expect(await finish([await beginLargest('192.0.2.5')])).toEqual(new Set([201]));
  });

  const withLength = (length: number, type = 'application/json') => ({
    'content-length': length,
    'content-type': type,
  });
  const chunked = (type = 'application/json') => ({ 'transfer-encoding': 'chunked', 'content-type': type });

  it.each<[string, string, object, number | undefined, ((sent: Sent) => void) | null]>([
    ['is complete', LARGEST.slice(0, -1), withLength(MIB), 201, ({ request }) => request.end('}')],
    ['is complete, in chunks', LARGEST.slice(0, -1), chunked(), 201, ({ request }) => request.end('}')],
    ['is no JSON', LARGEST.slice(0, -1), withLength(MIB), 400, ({ request }) => request.end('{')],
    ['has another type', LARGEST.slice(0, -1), withLength(MIB, 'text/plain'), 415, null],
    ['has another type, in chunks', LARGEST.slice(0, -1), chunked('text/plain'), 415, null],
    ['is too large', LARGEST, withLength(2 * MIB), 413, null],
    ['is too large, in chunks', `${LARGEST} `, chunked(), 413, null],
    ['is cut off', LARGEST.slice(0, -1), withLength(MIB), undefined, ({ request }) => request.destroy()],
    ['is cut off, in chunks', LARGEST.slice(0, -1), chunked(), undefined, ({ request }) => request.destroy()],
  ])('is free after a body that %s', async (_, text, headers, status, end) => {
    for (let n = 0; n < SHARE + 2; n++) {
      const sent = await begin('192.0.2.6', text, headers);
      end?.(sent);
      expect((await sent.response)?.statusCode).toBe(status);
      sent.request.destroy();
    }
    await until('the connections are closed', () => connectionsOf(server).then((count) => count === 0));
    await expectNothingHeld('192.0.2.6');
  });

  it('is free after bodies that do not arrive in time', async () => {
    const { requestTimeout, headersTimeout } = server;
    Object.assign(server, { requestTimeout: 1000, headersTimeout: 1000 });
    const bodies = await beginMany(SHARE, () => beginLargest('192.0.2.7'));
    const statuses = await Promise.all(bodies.map(async ({ response }) => (await response)?.statusCode));
    expect(new Set(statuses)).toEqual(new Set([408]));
    Object.assign(server, { requestTimeout, headersTimeout });
    await until('the connections are closed', () => connectionsOf(server).then((count) => count === 0));

    await expectNothingHeld('192.0.2.7');
  });

  it('is used by a body in chunks as it arrives', async () => {
    const small = await beginMany(SHARE * 4, () => begin('192.0.2.8', '{"text":"T"', chunked()));
    expect(await finish(small)).toEqual(new Set([201]));

    const large = await beginMany(SHARE, () => begin('192.0.2.8', LARGEST.slice(0, -1), chunked()));
    await until('they have arrived', () => large.every(({ socket }) => socket.bytesRead >= MIB));
    const refused = await (await begin('192.0.2.8', LARGEST.slice(0, -1), chunked())).response;
    expect(refused?.statusCode).toBe(503);
    expect(refused?.headers['connection']).toBe('close');
    expect(await finish(large)).toEqual(new Set([201]));
    await expectNothingHeld('192.0.2.8');
  });
});

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
