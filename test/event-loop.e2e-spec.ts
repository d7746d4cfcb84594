import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { insertUsers } from '../src/users/user-batch.js';
import { Database } from '../src/database/database.js';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

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

  it('return all objects', async () => {
    const { body } = await api.graphql(MOST_OBJECTS);
    expect(body.data.users).toHaveLength(100);
    for (const { posts } of body.data.users.slice(1)) {
      expect(posts).toHaveLength(90);
      expect(posts[0].title).toBe('Post 89');
    }
  });
});
