import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { insertUsers } from '../src/users/user-batch.js';
import { Database } from '../src/platform/database/database.js';
import { RequestContext } from '../src/platform/http/request-context.js';
import { Operation } from '../src/platform/graphql/loading/operation.js';
import { startApi, type TestApi } from './support/api.js';
import { Service } from './support/service.js';
import { createStore, STORES } from './support/stores.js';

const NESTED =
  '{ users(limit: 10) { posts(limit: 10) { author { posts(limit: 10) { title author { name } } } } } }';
const MOST_OBJECTS = '{ users(limit: 100) { posts(limit: 90) { title author { name } } } }';

describe.each(STORES)('long operations of GraphQL on %s', (store) => {
  let api: TestApi;
  let port: number;
  beforeAll(async () => {
    api = await startApi(store);
    const users = Array.from({ length: 99 }, (_, n) => ({ name: `User ${n}`, email: '' }));
    const titles = Array.from({ length: 90 }, (_, n) => `Post ${n}`);
    for (const id of await insertUsers(api.app.get(Database), users, new Date()))
      await api.posts.createBy(id, titles);
    await api.app.listen(0, '127.0.0.1');
    ({ port } = api.app.getHttpServer().address() as AddressInfo);
  });
  afterAll(() => api.stop());

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
    const content = 'x'.repeat(700);
    for (let n = 0; n < 60; n++) await api.posts.create({ content });
    const failing = `{ a: posts(after: "x") { nodes { id } }
      user(id: "1") { posts(limit: 60) { author { posts(limit: 60) { content } } } } }`;
    for (let n = 0; n < 30; n++)
      expect((await api.graphql(failing)).body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    // The other fields are executed after the response: thirty times 2.5 MB would be more than there is for all.
    await sleep(1000);
    const other = operationOf('192.0.2.77');
    Operation.of(other).markLarge();
    const waiting = operationOf('192.0.2.78');
    Operation.of(waiting).markLarge();
    await Operation.of(other).reserve(32 * 1024 * 1024);
    await Operation.of(waiting).reserve(32 * 1024 * 1024);

    expect(Operation.of(other).end()).toBeUndefined();
    expect(Operation.of(waiting).end()).toBeUndefined();
  });

  it('count the texts of mutations together with others', async () => {
    const { id } = await api.posts.create({ content: 'x'.repeat(1_000_000) });
    const holder = operationOf('192.0.2.1');
    Operation.of(holder).markLarge();
    await Operation.of(holder).reserve(64 * 1024 * 1024);
    const { status, body } = await api.graphql(
      `mutation { updatePost(id: ${id}, input: { title: "New" }) { title content } }`,
    );
    Operation.of(holder).end();

    // It has changed the post, so it is no failure as a whole.
    expect(status).toBe(200);
    expect(body.errors[0]).toMatchObject({
      path: ['updatePost', 'content'],
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    });
    expect((await api.posts.get(id)).title).toBe('New');
    await api.delete(`/v1/posts/${id}`);
  });

  it('return all objects', async () => {
    const { body } = await api.graphql(MOST_OBJECTS);
    expect(body.data.users).toHaveLength(100);
    for (const { posts } of body.data.users.slice(1)) {
      expect(posts).toHaveLength(90);
      expect(posts[0].title).toBe('Post 89');
    }
  });

  it('are 503 as a whole when others use the memory for ten seconds, and succeed afterwards', async () => {
    const holder = operationOf('192.0.2.1');
    Operation.of(holder).markLarge();
    await Operation.of(holder).reserve(64 * 1024 * 1024);
    const [query, mutation] = await Promise.all([
      api.graphql(MOST_OBJECTS),
      api.graphql(
        `mutation { createUser(input: { name: "Ada" }) { name posts { author { posts { id } } } } }`,
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
    expect((await api.graphql(MOST_OBJECTS)).body.data.users).toHaveLength(100);
  });
});

const TEXTS =
  '{ user(id: 1) { posts { author { name posts(limit: 60) { authorId content etag id status updatedAt } } content } } }';

describe.each(STORES)('the costliest operations of sixteen clients on %s', (store) => {
  it('do not end a process with little memory', async () => {
    const testStore = await createStore(store);
    const service = await Service.start({
      ...testStore.environment,
      TRUST_PROXY: '127.0.0.1',
      NODE_OPTIONS: '--max-old-space-size=300',
    });
    for (let n = 0; n < 100; n++) {
      const content = `${n} `.padEnd(800, 'x');
      await service.fetch('/v1/posts', {
        method: 'POST',
        body: JSON.stringify({ title: 'A title', content }),
      });
    }
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
