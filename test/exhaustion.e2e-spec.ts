import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Service } from './support/service.js';
import { createStore, STORES, type TestStore } from './support/stores.js';
import { until } from './support/until.js';

const DESCRIPTORS = 256;

describe.each(STORES)('a process without free file descriptors on %s', (store) => {
  let testStore: TestStore;
  let service: Service;
  let agent: Agent;
  beforeEach(async () => {
    testStore = await createStore(store);
    const settings = { ...testStore.environment, PASSWORD_POLICY: 'strict' };
    service = await Service.withFixture(settings, { descriptors: DESCRIPTORS });
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });
  afterEach(async () => {
    agent.destroy();
    await service.end();
    await testStore.remove();
  });

  /** Sends a request on the one connection that was opened before the others. */
  const send = (method: string, path: string, body?: object) =>
    new Promise<{ status: number; body: any }>((resolve, reject) => {
      const sent = request(service.url + path, {
        agent,
        method,
        headers: { 'content-type': 'application/json' },
      });
      sent.on('response', (response) => {
        json(response).then((read) => resolve({ status: response.statusCode!, body: read }), reject);
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });

  const search = () => send('GET', '/v1/dummies?q=anything');
  const register = () =>
    send('POST', '/auth/register/', { email: 'ada@example.com', name: 'Ada', password: 'nanosecond wire' });

  /** Opens connections until the process cannot accept more. */
  async function useUp(): Promise<Socket[]> {
    const { port } = new URL(service.url);
    const sockets = Array.from({ length: DESCRIPTORS }, () => connect(Number(port), '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.on('close', () => closed++);
    }
    await until('the process has closed connections', () => closed > 0);
    return sockets;
  }

  // On PostgreSQL, searches need no thread.
  const calls = [
    ...(store === 'SQLite' ? ([['a search', search, 200]] as const) : []),
    ['a registration under PASSWORD_POLICY=strict', register, 201],
  ] as const;

  it.each(calls)('responds to %s with 503, and serves it afterwards', async (_, call, status) => {
    expect((await send('GET', '/health')).status).toBe(200);
    const sockets = await useUp();

    const refused = await call();
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
    expect((await send('GET', '/health')).status).toBe(200);

    for (const socket of sockets) socket.destroy();
    await until('it is served again', async () => (await call()).status === status);
    expect(service.hasEnded).toBe(false);
  });
});
