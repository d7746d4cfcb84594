import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service } from './support/service.js';
import { ANY_STORE, createStore, type TestStore } from './support/stores.js';
import { until } from './support/until.js';

const ROUNDS = 24;

const post = (path: string, body: object): string => {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
};

describe('clients that disconnect', () => {
  let testStore: TestStore;
  let service: Service;
  beforeAll(async () => {
    testStore = await createStore(ANY_STORE);
    service = await Service.withFixture(testStore.environment);
    for (let n = 0; n < 20; n++) await service.create('x'.repeat(900_000));
  });
  afterAll(async () => {
    await service.end();
    await testStore.remove();
  });

  /** Sends a request, and resets the connection at once or after the first bytes of the response. */
  async function sendAndLeave(request: string, afterResponse: boolean): Promise<void> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(request, resolve));
    if (afterResponse) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    const closed = once(socket, 'close');
    socket.resetAndDestroy();
    await closed;
  }

  it.each([
    ['a login', post('/auth/login/', { email: 'ada@example.com', password: 'wrong password' })],
    // It has no response.
    ['a body that is not complete', post('/v1/dummies', { text: 'Some text' }).slice(0, -4), false],
    ['a large page', 'GET /v1/dummies?limit=100 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['pages in a pipeline', 'GET /v1/dummies?limit=100 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10)],
    ['an event stream', 'GET /v1/events/stream HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['GraphQL', post('/graphql', { query: '{ dummies(first: 15) { nodes { text } } }' })],
    ['an upgrade', 'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ])('cause no error in the log: %s', async (_, request, hasResponse = true) => {
    for (let n = 0; n < ROUNDS; n += 8) {
      await Promise.all(
        Array.from({ length: 8 }, (__, k) => sendAndLeave(request, hasResponse && k % 2 === 0)),
      );
    }
    // Until the service has noticed that the last clients have left, it may have no memory for another response.
    await until('it serves others', async () => (await service.fetch('/v1/dummies/1')).status === 200);

    expect(service.log.filter(({ level }) => level >= 50)).toEqual([]);
    expect(service.output).not.toContain('Warning');
  });
});
