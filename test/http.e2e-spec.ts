import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('HTTP', () => {
  let api: TestApi;
  let port: number;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
    await api.dummies.create();
    await api.listen();
    ({ port } = api.app.getHttpServer().address() as AddressInfo);
  });
  afterAll(() => api.stop());

  /** Sends raw bytes, for requests that no client library would send, and returns everything received. */
  function exchange(request: string, { end = false } = {}): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    if (end) socket.end(request);
    else socket.write(request);
    return text(socket);
  }

  async function raw(request: string, { end = true } = {}) {
    const received = await exchange(request, { end });
    const [head = '', body = ''] = received.split('\r\n\r\n', 2);
    const [, status, fields = ''] = /^HTTP\/1\.1 (\d+)[^\r]*\r\n([^]*)$/.exec(head) ?? [];
    const headers = Object.fromEntries(
      fields.split('\r\n').map((line) => {
        const [name = '', ...value] = line.split(': ');
        return [name.toLowerCase(), value.join(': ')];
      }),
    );
    return { status: Number(status), headers, text: body, body: body && JSON.parse(body) };
  }

  describe('X-Request-ID', () => {
    it.each([
      ['a response', 'GET', '/health'],
      ['a list', 'GET', '/v1/dummies'],
      ['a response without a body', 'HEAD', '/v1/dummies'],
      ['a bad id', 'GET', '/v1/dummies/abc'],
      ['an unknown path', 'GET', '/nowhere'],
      ['a wrong method', 'PUT', '/v1/dummies'],
      ['an unreadable body', 'POST', '/v1/dummies'],
      ['a bad escape', 'GET', '/%ff'],
    ] as const)('is a new UUID on %s', async (_, method, url) => {
      const ids = new Set<string>();
      for (let n = 0; n < 3; n++) {
        const { headers } = await api.send({ method, url, ...(method === 'POST' && { payload: '{' }) });
        expect(headers['x-request-id']).toMatch(UUID);
        ids.add(headers['x-request-id']!);
      }
      expect(ids.size).toBe(3);
    });
  });

  describe('paths', () => {
    it.each(['/health', '/health/ready', '/v1/dummies', '/v1/dummies/1'])(
      '%s responds with and without a trailing slash, and to HEAD',
      async (path) => {
        const plain = await api.get(path);
        const slash = await api.get(`${path}/`);
        const head = await api.send({ method: 'HEAD', url: path });

        expect([plain.status, slash.status, head.status]).toEqual([200, 200, 200]);
        expect(slash.text).toBe(plain.text);
        expect(head.text).toBe('');
        expect(head.headers['content-length']).toBe(String(Buffer.byteLength(plain.text)));
      },
    );

    it.each([
      '/dummies',
      '/v2/dummies',
      '/v3/dummies',
      '/v1',
      '/v1/',
      '/v1/auth/login/',
      '/v1/health',
      '/health/x',
      '/V1/dummies',
      '/v1/dummies/1/2',
      '/v1//dummies',
      '/v1/dummies//',
      '/v1/dummies/1//',
      '/%ff',
      '/%00',
      '/v1/%64ummies%ff',
      '/__proto__',
      '/constructor',
      '/.env',
      '/*',
    ])('%s is not found with any method', async (url) => {
      for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS'] as const) {
        expect(await api.send({ method, url })).toBeError('NOT_FOUND');
      }
    });
  });

  describe('wrong methods', () => {
    it.each([
      ['PUT', '/v1/dummies', 'GET, HEAD, POST'],
      ['DELETE', '/v1/dummies/', 'GET, HEAD, POST'],
      ['PATCH', '/v1/dummies?page=1', 'GET, HEAD, POST'],
      ['POST', '/v1/dummies/1', 'DELETE, GET, HEAD, PATCH, PUT'],
      ['POST', '/v1/dummies/abc', 'DELETE, GET, HEAD, PATCH, PUT'],
      ['POST', '/v1/dummies/%ff', 'DELETE, GET, HEAD, PATCH, PUT'],
      ['POST', `/v1/dummies/${'9'.repeat(500)}`, 'DELETE, GET, HEAD, PATCH, PUT'],
      ['POST', '/health', 'GET, HEAD'],
      ['DELETE', '/health/ready', 'GET, HEAD'],
      ['OPTIONS', '/v1/dummies', 'GET, HEAD, POST'],
      ['TRACE', '/v1/dummies', 'GET, HEAD, POST'],
      ['PROPFIND', '/v1/dummies', 'GET, HEAD, POST'],
    ] as const)('%s %s is rejected with Allow: %s, for any body', async (method, url, allow) => {
      for (const payload of [undefined, '{broken']) {
        const reply = await api.send({ method, url, ...(payload && { payload }) });
        expect(reply).toBeError('METHOD_NOT_ALLOWED');
        expect(reply.headers['allow']).toBe(allow);
      }
    });
  });

  describe('malformed or unusual requests', () => {
    it.each([
      ['garbage', 400, 'garbage\r\n\r\n'],
      ['a bad version', 400, 'GET /health HTTP/9.9\r\nHost: x\r\n\r\n'],
      ['a header without a name', 400, 'GET /health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
      [
        'two lengths',
        400,
        'POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      ],
      [
        'a length beside a coding',
        400,
        'POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      ],
      ['an id of 60,000 digits', 431, `GET /v1/dummies/${'9'.repeat(60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      ['headers of 60,000 bytes', 431, `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(60_000)}\r\n\r\n`],
    ])('that are no HTTP get the response of Node, and reach nothing: %s', async (_, status, request) => {
      const before = await api.dummies.count();
      const reply = await raw(request);

      expect(reply).toHaveStatus(status);
      expect(reply.headers).not.toHaveProperty('x-request-id');
      expect(reply.text).toBe('');
      expect(await api.dummies.count()).toBe(before);
    });

    it('that are no HTTP write nothing into a response that has begun', async () => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /v1/events/stream HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
      socket.write('garbage\r\n\r\n');
      const [rest] = await Promise.all([text(socket), once(socket, 'close')]);

      expect(rest).not.toContain('HTTP/1.1');
    });

    it('closes a connection without a request silently: a browser opens some in advance', async () => {
      const server = api.app.getHttpServer();
      const { headersTimeout } = server;
      server.headersTimeout = 400;
      try {
        expect(await exchange('')).toBe('');
      } finally {
        server.headersTimeout = headersTimeout;
      }
    });

    it('are rejected with the error envelope without a Host, which may be empty', async () => {
      expect(await raw('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n')).toBeError('MALFORMED_REQUEST');
      expect(await raw('GET /health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toHaveStatus(200);
    });

    it('to a proxy end the connection, also of a client that resets it', async () => {
      const connectTo = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
      expect(await exchange(connectTo)).toBe('');
      const resets = Array.from({ length: 40 }, async () => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write(connectTo, () => socket.resetAndDestroy());
        await once(socket, 'close');
      });
      await Promise.all(resets);

      expect(await raw('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toHaveStatus(200);
    });

    it.each(['h2c', 'websocket'])('may offer an upgrade, which is ignored: %s', async (protocol) => {
      const upgrade = `Apollo-Require-Preflight: 1\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==`;
      // A team may have a WebSocket at the path of GraphQL.
      const paths = protocol === 'h2c' ? ['/v1/dummies', '/graphql?query=%7B__typename%7D'] : ['/v1/dummies'];
      for (const path of paths) {
        const socket = connect(port, '127.0.0.1');
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n`);
        const [received] = await once(socket, 'data');
        expect(String(received)).toMatch(/^HTTP\/1\.1 200 [^]*x-request-id: /);
        socket.destroy();
      }
    });

    it('may have an unknown expectation', async () => {
      const reply = await raw('GET /health HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n');

      expect(reply.status).toBe(200);
      expect(reply.headers['x-request-id']).toMatch(UUID);
    });

    it('OPTIONS * returns the methods of the whole server', async () => {
      const reply = await raw('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

      expect(reply).toHaveStatus(204);
      expect(reply.headers['allow']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
      expect(reply.headers['x-request-id']).toMatch(UUID);
    });

    it.each([
      ['two Host headers', 'GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
      ['the same Host twice', 'GET /health HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
      [
        'another coding before chunked',
        'POST /v1/dummies HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      ],
      [
        'chunks in HTTP/1.0',
        'POST /v1/dummies HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      ],
      [
        'chunks in HTTP/1.0 without a Host',
        'POST /v1/dummies HTTP/1.0\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      ],
      ['HTTP/2.0 in the request line', 'GET /health HTTP/2.0\r\nHost: x\r\n\r\n'],
    ])('return 400 and close the connection: %s', async (_, request) => {
      // The server closes the connection.
      const reply = await raw(request, { end: false });

      expect(reply).toBeError('MALFORMED_REQUEST');
      expect(reply.headers['connection']).toBe('close');
    });

    it.each(['GET *', 'GET *dummies', 'OPTIONS *abc'])('are not found: %s', async (line) => {
      expect(await raw(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toBeError('NOT_FOUND');
    });

    it('that do not arrive in time get 408', async () => {
      const server = api.app.getHttpServer();
      const { requestTimeout, headersTimeout } = server;
      Object.assign(server, { requestTimeout: 500, headersTimeout: 400 });
      const before = await api.dummies.count();
      try {
        const unfinished =
          'POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{';
        expect(await raw(unfinished, { end: false })).toHaveStatus(408);
        expect(await raw('GET /v1/dummies HTTP/1.1\r\nHost: x\r\n', { end: false })).toHaveStatus(408);
      } finally {
        Object.assign(server, { requestTimeout, headersTimeout });
      }
      expect({ requestTimeout, headersTimeout }).toEqual({ requestTimeout: 30_000, headersTimeout: 15_000 });
      expect(await api.dummies.count()).toBe(before);
    });

    it('may have an absolute URL', async () => {
      const reply = await raw('GET http://x/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

      expect(reply.status).toBe(200);
      const unknown = await raw('GET http://x/auth/none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      expect(unknown).toBeError('NOT_FOUND');
      expect(unknown.headers['cache-control']).toBe('no-store');
    });
  });

  describe('a body of more than 1 MiB', () => {
    it('is rejected by its Content-Length', async () => {
      const reply = await raw(
        'POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\nConnection: close\r\n\r\n',
      );
      expect(reply).toBeError('PAYLOAD_TOO_LARGE');
    });

    it('is rejected so that a client that keeps sending can read the response', async () => {
      for (let n = 0; n < 10; n++) {
        const reply = await fetch(`http://127.0.0.1:${port}/v1/dummies`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: 'x'.repeat(5 * 1024 * 1024),
        });
        expect(reply.status).toBe(413);
        await reply.text();
      }
    });

    it('is rejected in chunks', async () => {
      const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
      const reply = await raw(
        `POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`,
      );
      expect(reply).toBeError('PAYLOAD_TOO_LARGE');
    });
  });

  it.each([
    ['GET', '/auth/social/exchange/', 'POST'],
    ['HEAD', '/auth/social/exchange', 'POST'],
    ['DELETE', '/auth/passkeys/options/?x=1', 'POST'],
  ] as const)(
    'rejects the wrong method %s of %s, which another route matches',
    async (method, url, allow) => {
      const reply = await api.send({ method, url });

      expect(reply).toHaveStatus(405);
      expect(reply.headers['allow']).toBe(allow);
    },
  );

  it('masks an internal error, and logs its cause with the request id', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    await api.rows.run((manager) => manager.query('ALTER TABLE dummies RENAME COLUMN text TO hidden'));
    try {
      const reply = await api.getOnly('/v1/dummies/1');
      expect(reply).toBeError('INTERNAL_ERROR');
      expect(reply.text).not.toMatch(/text|hidden|dummies|SQL/);
      expect(log.mock.calls).toEqual([
        [
          {
            requestId: reply.headers['x-request-id'],
            err: expect.objectContaining({ name: 'QueryFailedError' }),
          },
        ],
      ]);
    } finally {
      await api.rows.run((manager) => manager.query('ALTER TABLE dummies RENAME COLUMN hidden TO text'));
      log.mockRestore();
    }
  });

  it('rejects a compressed body', async () => {
    const reply = await api.post('/v1/dummies', '{}', { 'content-encoding': 'gzip' });

    expect(reply).toBeError('UNSUPPORTED_MEDIA_TYPE');
    const fields = { text: 'T' };
    expect(await api.post('/v1/dummies', fields, { 'content-encoding': 'Identity' })).toHaveStatus(201);
    // Without a body, nothing is compressed.
    expect(await api.get('/v1/dummies', { 'content-encoding': 'gzip' })).toHaveStatus(200);
  });

  it('sends the security headers of an API, and those of pages only with pages', async () => {
    const API = {
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    };
    const ofPages = ['origin-agent-cluster', 'cross-origin-opener-policy', 'x-dns-prefetch-control'];

    for (const url of ['/health', '/nowhere', '/v1/dummies', '/openapi.json']) {
      const { headers } = await api.get(url);
      expect(headers).toMatchObject(API);
      for (const name of ofPages) expect(headers).not.toHaveProperty(name);
    }
    for (const url of ['/docs', '/graphql', '/']) {
      const { headers } = await api.get(url, { accept: 'text/html' });
      expect(headers).toMatchObject({
        ...API,
        'content-security-policy': expect.stringMatching(/^default-src 'none';script-src 'self';/),
      });
      for (const name of ofPages) expect(headers).toHaveProperty(name);
    }
  });
});
