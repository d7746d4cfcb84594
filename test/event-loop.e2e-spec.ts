import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { DataSource } from 'typeorm';
import { RequestContext } from '../src/platform/http/request-context.js';
import { Operation } from '../src/platform/graphql/loading/operation.js';
import { FixtureModule } from './support/fixture.module.js';
import { Dummy, DummyStatus } from './support/fixture/dummy.entity.js';
import { onEach } from './support/on-each.js';
import { Service } from './support/service.js';
import { createStore, STORES } from './support/stores.js';
import { until } from './support/until.js';

const GROUPS = 'dummies(status: done, first:';
const NESTED = `{ ${GROUPS} 10) { nodes { peers(limit: 10) { first { peers(limit: 10) { id first { id } } } } } } }`;
const MOST_OBJECTS = `{ ${GROUPS} 100) { nodes { counter peers(limit: 90) { id first { counter } } } } }`;

onEach('long operations of GraphQL', { modules: [FixtureModule] }, ({ api }) => {
  let port: number;
  beforeAll(async () => {
    // The last hundred have different counters, and each of these ninety dummies.
    const [text, status, createdAt] = ['Some text', DummyStatus.done, new Date()];
    const group = Array.from({ length: 100 }, (_, counter) => ({
      counter: counter + 1,
      text,
      status,
      createdAt,
    }));
    const dummies = api.app.get(DataSource).getRepository(Dummy);
    for (let n = 0; n < 90; n++) await dummies.insert(group.map((row) => ({ ...row, updatedAt: createdAt })));
    await api.listen();
    ({ port } = api.app.getHttpServer().address() as AddressInfo);
  });

  const graphql = (query: string) => {
    const body = JSON.stringify({ query });
    return `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';

  /** Sends requests on connections of their own. @returns their places in the order of the responses */
  async function placesOf(requests: readonly string[]): Promise<number[]> {
    const sockets = requests.map(() => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const places = new Map<number, number>();
    await Promise.all(
      sockets.map(async (socket, n) => {
        socket.write(requests[n]!);
        const [head] = await once(socket, 'data');
        expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
        places.set(n, places.size);
        socket.destroy();
      }),
    );
    return requests.map((_, n) => places.get(n)!);
  }

  it('let a request pass that arrives while sixteen of them are ready', async () => {
    const places = await placesOf([...Array.from({ length: 16 }, () => graphql(NESTED)), HEALTH]);
    expect(places.at(-1)).toBeLessThan(12);
  });

  it('let a request pass that arrives while one of them runs', async () => {
    const places = await placesOf([graphql(MOST_OBJECTS), HEALTH]);
    expect(places).toEqual([1, 0]);
  });

  it('leave no memory reserved when a field fails while others are still loaded', async () => {
    const text = 'x'.repeat(700);
    for (let n = 0; n < 60; n++) await api.dummies.create({ text, counter: 1000 });
    const failing = `{ a: dummies(after: "x") { nodes { id } }
      dummies(first: 1) { nodes { peers(limit: 60) { first { peers(limit: 60) { text } } } } } }`;
    for (let n = 0; n < 30; n++)
      expect((await api.graphql(failing)).body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    // The other fields are executed after the response: thirty times 2.5 MB would be more than there is for all.
    const isAllFree = async () => {
      const both = [operationOf('192.0.2.77'), operationOf('192.0.2.78')].map((each) => Operation.of(each));
      for (const operation of both) operation.markLarge();
      const reserved = Promise.all(both.map((operation) => operation.reserve(32 * 1024 * 1024)));
      const isFree = await Promise.race([reserved.then(() => true), sleep(100, false)]);
      for (const operation of both) operation.end();
      return isFree;
    };

    await until('all memory is free', isAllFree);
    expect(await isAllFree()).toBe(true);
  });

  it('count the texts of mutations together with others', async () => {
    const { id } = await api.dummies.create({ text: 'x'.repeat(1_000_000) });
    const holder = operationOf('192.0.2.1');
    Operation.of(holder).markLarge();
    await Operation.of(holder).reserve(64 * 1024 * 1024);
    const { status, body } = await api.graphql(
      `mutation { updateDummy(id: ${id}, input: { counter: 7 }) { counter text } }`,
    );
    Operation.of(holder).end();

    // It has changed the dummy, so it is no failure as a whole.
    expect(status).toBe(200);
    expect(body.errors[0]).toMatchObject({
      path: ['updateDummy', 'text'],
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    });
    expect((await api.dummies.get(id)).counter).toBe(7);
    await api.delete(`/v1/dummies/${id}`);
  });

  it('return all objects', async () => {
    const { body } = await api.graphql(MOST_OBJECTS);
    const { nodes } = body.data.dummies;
    expect(nodes.map(({ counter }: any) => counter)).toEqual(Array.from({ length: 100 }, (_, n) => 100 - n));
    for (const { counter, peers } of nodes) {
      expect(peers).toHaveLength(90);
      for (const [n, { id, first }] of peers.entries()) {
        expect(Number(id)).toBe(counter + 100 * (89 - n));
        expect(first).toEqual({ counter });
      }
    }
  });

  it('are 503 as a whole when others use the memory for ten seconds, and succeed afterwards', async () => {
    const holder = operationOf('192.0.2.1');
    Operation.of(holder).markLarge();
    await Operation.of(holder).reserve(64 * 1024 * 1024);
    const [query, mutation] = await Promise.all([
      api.graphql(MOST_OBJECTS),
      api.graphql(
        `mutation { createDummy(input: { text: "A", counter: 2000 }) { id peers { first { peers { id } } } } }`,
      ),
    ]);
    Operation.of(holder).end();

    expect(query.status).toBe(503);
    expect(query.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/) });
    expect(query.body).toEqual({
      errors: [
        expect.objectContaining({
          message: 'Too many large operations are running; retry later',
          extensions: { code: 'SERVICE_UNAVAILABLE', requestId: expect.any(String) },
        }),
      ],
    });
    // What it has changed is not reported as a failure.
    expect(mutation.status).toBe(200);
    expect((await api.graphql(MOST_OBJECTS)).body.data.dummies.nodes).toHaveLength(100);
  });
});

const TEXTS =
  '{ dummy(id: 1) { peers { first { counter peers(limit: 60) { accountId text etag id status updatedAt } } text } } }';

describe.each(STORES)('the costliest operations of sixteen clients on %s', (store) => {
  it('do not end a process with little memory', async () => {
    const testStore = await createStore(store);
    const settings = {
      ...testStore.environment,
      TRUST_PROXY: '127.0.0.1',
      NODE_OPTIONS: '--max-old-space-size=300',
    };
    const service = await Service.withFixture(settings);
    for (let n = 0; n < 100; n++) await service.create(`${n} `.padEnd(800, 'x'));
    const results = await Promise.all(
      Array.from({ length: 16 }, async (_, n) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${n}` };
        const body = JSON.stringify({ query: TEXTS });
        const response = await service.fetch('/graphql', { method: 'POST', headers, body });
        return `${response.status} ${(await response.text()).length > 4_800_000 ? 'whole' : 'error'}`;
      }),
    );
    const health = await service.fetch('/health');

    expect(results).toContain('200 whole');
    // On an overloaded machine, some wait too long.
    expect(results.filter((result) => result !== '200 whole' && result !== '503 error')).toEqual([]);
    expect(health.status).toBe(200);
    expect(await service.end()).toMatchObject({ code: 0 });
    await testStore.remove();
  });
});

/** What the context of an operation has of its client. */
const operationOf = (address: string) => ({
  req: { context: new RequestContext({ ip: address, headers: {} } as FastifyRequest) },
});
