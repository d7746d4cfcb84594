import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operations } from './support/reference.js';
import { fill } from './support/requests.js';
import { Service } from './support/service.js';
import { ANY_STORE, createStore, STORES, type TestStore } from './support/stores.js';

/** Bytes that no client library would send, as Node reads them. */
const BYTE = '\x80';

/** What is no part of the reference: pages, files and further routes. */
const PAGES = [
  '/',
  '/docs',
  '/guides',
  '/guides/errors',
  '/guides/assets/x.js',
  '/guides/hashmap.json',
  '/account',
  '/admin',
  '/app/assets/x.js',
  '/site/site.css',
  '/openapi.json',
  '/graphql',
  '/graphql?query={__typename}',
  '/.well-known/jwks.json',
  '/.well-known/change-password',
  '/nowhere',
  '/v1/nowhere',
];

type Route = readonly [method: string, path: string];

const ROUTES: readonly Route[] = [
  ...PAGES.map((path) => ['GET', path] as const),
  ['POST', '/graphql'],
  ['OPTIONS', '*'],
  ...operations.map(({ method, path }) => [method, fill(path)] as const),
];

/** Pairs values with routes: one in four of them with each route, in rotation, and all with each page if they are whole. */
function paired<Value>(
  values: readonly Value[],
  { whole }: { whole: boolean },
): (readonly [route: Route, value: Value])[] {
  return ROUTES.flatMap((route, place) =>
    values
      .filter((_, index) => (whole && place < PAGES.length) || (place + index) % 4 === 0)
      .map((value) => [route, value] as const),
  );
}

const NO_HOSTS = [
  '[',
  '[::1',
  'a b',
  '%',
  '%zz',
  BYTE,
  'a/b',
  'a?b',
  'a#b',
  'a@b',
  'a\\b',
  'a:b',
  'a:99999',
  '"',
  '<>',
];

const HEADERS: readonly string[] = [
  'Host: ',
  `Host: ${'x'.repeat(8000)}`,
  'Host: [::1]:80',
  ...[BYTE, '%', '=;=', 'a=b;'.repeat(2000), 'session=%ff', '__Host-session="'].map(
    (value) => `Cookie: ${value}`,
  ),
  ...['', 'Bearer', 'Bearer ', `Bearer ${BYTE}`, 'Bearer a.b.c', 'Bearer psk_', 'Basic %', '"'].map(
    (value) => `Authorization: ${value}`,
  ),
  ...['', BYTE, ';;;', 'text/html', 'text/html;q=x', ','.repeat(5000)].map((value) => `Accept: ${value}`),
  ...['br;q=x', ';', BYTE, '*;q=0', 'identity;q=0'].map((value) => `Accept-Encoding: ${value}`),
  ...['', BYTE, ';;;', 'application/json; charset=x', 'multipart/form-data'].map(
    (value) => `Content-Type: ${value}`,
  ),
  ...['"', '*', `W/"${BYTE}"`, ',', '"a", "'].flatMap((value) => [
    `If-None-Match: ${value}`,
    `If-Match: ${value}`,
  ]),
  ...['x', 'Fri, 99 Nov 9999 99:99:99 GMT'].flatMap((value) => [
    `If-Modified-Since: ${value}`,
    `If-Unmodified-Since: ${value}`,
    `If-Range: ${value}`,
  ]),
  ...['bytes=9-1', 'bytes=-', 'bytes=99999999999999999999-', 'bytes=0-0,2-2,4-4', BYTE].map(
    (value) => `Range: ${value}`,
  ),
  ...[BYTE, '-1', '9'.repeat(400), '%'].map((value) => `Last-Event-ID: ${value}`),
  ...['', BYTE, 'x'.repeat(300), ' ,'].map((value) => `Idempotency-Key: ${value}`),
  ...['[', '[::1', BYTE, ',,,', '256.1.1.1', '::ffff:1.2.3.4:5'].map((value) => `X-Forwarded-For: ${value}`),
  ...['[', BYTE, 'a b', ''].flatMap((value) => [`X-Forwarded-Host: ${value}`, `X-Forwarded-Proto: ${value}`]),
  ...['null', '[', 'http://[', BYTE].flatMap((value) => [`Origin: ${value}`, `Referer: ${value}`]),
  `Origin: http://a\r\nAccess-Control-Request-Method: ${BYTE}`,
  'Sec-Fetch-Mode: navigate',
  `User-Agent: ${BYTE.repeat(3000)}`,
  `X-Request-ID: ${BYTE.repeat(3000)}`,
  'Upgrade: h2c\r\nConnection: Upgrade',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Expect: 100-continue',
  'Traceparent: 00-%-%-%',
  `X-CSRF-Token: ${BYTE}`,
  `${BYTE}: x`,
];

/** What follows a path. */
const ENDINGS: readonly string[] = [
  ...[
    '%',
    '%ff',
    '%00',
    '%2f',
    '%2e%2e',
    '..',
    '../..',
    BYTE,
    '.',
    '.js',
    '.html',
    '@',
    '*',
    ':id',
    ';x',
  ].map((name) => `/${name}`),
  '//',
  '//[',
  ...[251, 255, 4096, 12_000].flatMap((length) => [`/${'a'.repeat(length)}`, `/${'a'.repeat(length)}.js`]),
  '/a'.repeat(4000),
  '/assets/../x.js',
  '/index.html/x',
  '#x',
  ...['%', '=&=', '&'.repeat(4000), 'a&'.repeat(4000), 'page[]=1', 'page=1&page=2', '__proto__=1'].map(
    (query) => `?${query}`,
  ),
  ...[
    'cursor',
    'q',
    'limit',
    'page',
    'since',
    'types',
    'sort_by',
    'account',
    'state',
    'query',
    'extensions',
  ].flatMap((name) =>
    ['%', '%ff', '%00', '%ed%a0%80', '[', '{', '9'.repeat(400), BYTE].map((value) => `?${name}=${value}`),
  ),
];

const VALID_HOST = 'Host: localhost';

describe.each(STORES)('what strangers send on %s', (store) => {
  let testStore: TestStore;
  let service: Service;
  beforeAll(async () => {
    testStore = await createStore(store);
    service = await Service.withFixture({
      ...testStore.environment,
      TRUST_PROXY: '127.0.0.1',
    });
  });
  afterAll(async () => {
    await service.end();
    await testStore.remove();
  });

  /** Sends raw bytes. @returns the beginning of the response */
  function send(line: string, headers: string): Promise<string> {
    const length = line.startsWith('GET') ? '' : 'Content-Length: 0\r\n';
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      let received = '';
      const end = () => {
        socket.destroy();
        resolve(received);
      };
      socket.on('error', end);
      socket.on('close', end);
      socket.on('data', (bytes) => {
        received = (received + String(bytes)).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
        if (received.includes('\r\n\r\n')) end();
      });
      socket.write(`${line} HTTP/1.1\r\n${headers}\r\n${length}\r\n`, 'latin1');
    });
  }

  const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1]);

  /** Sends requests, some at a time. @returns those with a response that no stranger should get */
  async function faultsOf(
    requests: readonly (readonly [line: string, headers: string])[],
  ): Promise<string[]> {
    const faults: string[] = [];
    const rest = requests.values();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const [line, headers] of rest) {
          const status = statusOf(await send(line, headers));
          if (!(status >= 200 && status < 500))
            faults.push(`${status}: ${line.slice(0, 80)} ${headers.slice(0, 80)} ${lastWarning()}`);
        }
      }),
    );
    return faults;
  }

  // No page needs the database.
  const pages = { whole: store === ANY_STORE };
  const errors = () => service.log.filter(({ level }) => level >= 50);
  const lastWarning = () => JSON.stringify(service.log.findLast(({ level }) => level >= 40));

  it('is no fault of the service: headers', async () => {
    const requests = paired(HEADERS, pages).map(([[method, path], header]) => {
      const headers = header.startsWith('Host:') ? header : `${VALID_HOST}\r\n${header}`;
      return [`${method} ${path}`, headers] as const;
    });
    expect(await faultsOf(requests)).toEqual([]);
    expect(errors()).toEqual([]);
  });

  it('is no fault of the service: paths and queries', async () => {
    const requests = [
      ...paired(ENDINGS, pages).map(([[method, path], ending]) => `${method} ${path}${ending}`),
      ...paired(['http://[', 'http://a b', 'http://', '//['], pages).map(
        ([[method, path], start]) => `${method} ${start}${path}`,
      ),
    ].map((line) => [line, VALID_HOST] as const);
    expect(await faultsOf(requests)).toEqual([]);
    expect(errors()).toEqual([]);
  });

  // No path needs the database for it.
  if (store === ANY_STORE) {
    it.each(NO_HOSTS)('is 400 on every path with the Host %j', async (host) => {
      const routes = paired(NO_HOSTS, pages).filter(([, other]) => other === host);
      for (const [[method, path]] of routes) {
        const response = await send(`${method} ${path}`, `Host: ${host}`);
        expect([path, statusOf(response)]).toEqual([path, 400]);
        expect(response).toMatch(/x-request-id: [\da-f-]{36}/i);
      }
      const upgrade = `Host: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==`;
      expect(statusOf(await send('GET /v1/dummies', upgrade))).toBe(400);
      expect(errors()).toEqual([]);
    });
  }
});
