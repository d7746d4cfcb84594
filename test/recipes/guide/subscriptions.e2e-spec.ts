import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Args, Context, Int, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { PubSub } from 'graphql-subscriptions';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Test } from '@nestjs/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Account } from '../../../src/accounts/account.entity.js';
import { appOptions, initApp } from '../../../src/app.js';
import { AppModule } from '../../../src/app.module.js';
import { CurrentAccount, Public, StaffOnly } from '../../../src/platform/access/index.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { GraphqlOptions } from '../../../src/platform/graphql/graphql.options.js';
import { Operation } from '../../../src/platform/graphql/loading/operation.js';
import { createFastifyAdapter } from '../../../src/platform/http/edge/fastify-adapter.js';
import { TestApi } from '../../support/api.js';
import { createStore, STORES } from '../../support/stores.js';
import { until } from '../../support/until.js';
import { SubscriptionsOptions } from './platform/graphql/subscriptions.options.js';

const pubSub = new PubSub();

@Resolver()
@Public()
class TicksResolver {
  @Query(() => Int)
  one(): number {
    return 1;
  }

  @Mutation(() => Int)
  async tick(@Args('n', { type: () => Int }) n: number): Promise<number> {
    await pubSub.publish('tick', { ticked: n });
    return n;
  }

  @Subscription(() => Int, {
    filter: ({ ticked }, { above }) => ticked > above,
    resolve: ({ ticked }) => ticked,
  })
  ticked(@Args('above', { type: () => Int, defaultValue: 0 }) _above: number) {
    return pubSub.asyncIterableIterator('tick');
  }

  /** Loads as much as one client may have. */
  @Subscription(() => Int, { resolve: () => 1 })
  async *largest(@Context() context: object) {
    Operation.of(context).markLarge();
    await Operation.of(context).reserve(64 * 1024 * 1024);
    yield 1;
  }

  @Subscription(() => Int, { resolve: () => 'no number' })
  broken() {
    return pubSub.asyncIterableIterator('tick');
  }
}

@Resolver()
class MineResolver {
  /** Requires an account, because no decorator says otherwise. */
  @Subscription(() => String, { resolve: ({ email }) => email })
  async *mine(@CurrentAccount() { email }: Account) {
    yield { email };
  }

  @StaffOnly()
  @Subscription(() => Int, { resolve: () => 1 })
  ofStaff() {
    return pubSub.asyncIterableIterator('tick');
  }
}

@Module({ providers: [TicksResolver, MineResolver] })
class TicksModule {}

describe.each(STORES)('subscriptions over graphql-ws on %s', (store) => {
  let api: TestApi;
  let tokens: { access: string; refresh: string };
  let url: string;
  const clients: Client[] = [];
  beforeAll(async () => {
    const { environment, ...testStore } = await createStore(store);
    const config = loadConfig({
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      ...environment,
      GRAPHQL_MAX_ALIASES: '3',
    });
    // The recipe replaces the class where it is provided.
    const module = await Test.createTestingModule({ imports: [AppModule.with(config, [TicksModule])] })
      .overrideProvider(GraphqlOptions)
      .useClass(SubscriptionsOptions)
      .compile();
    const app = module.createNestApplication<NestFastifyApplication>(
      createFastifyAdapter(config),
      appOptions(config),
    );
    api = new TestApi({ app: await initApp(app), config, removeStore: () => testStore.remove() });
    url = (await api.listen()).replace('http', 'ws');
    await api.accounts.register('ada@example.com');
    tokens = await api.accounts.login('ada@example.com');
  });
  afterAll(async () => {
    for (const client of clients) await client.dispose();
    await api.stop();
  });
  /** Publishes a 1 and a 7 again and again until the work is done. */
  const whileTicking = async <T>(work: Promise<T>): Promise<T> => {
    const timer = setInterval(() => {
      for (const n of [1, 7]) void api.graphql(`mutation { tick(n: ${n}) }`);
    }, 50);
    return work.finally(() => clearInterval(timer));
  };
  const bearer = () => ({ Authorization: `Bearer ${tokens.access}` });

  function connect(connectionParams?: Record<string, unknown>, headers: Record<string, string> = {}): Client {
    class Socket extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, { headers });
      }
    }
    const client = createClient({
      url: `${url}/graphql`,
      webSocketImpl: Socket,
      retryAttempts: 0,
      ...(connectionParams && { connectionParams }),
    });
    clients.push(client);
    return client;
  }

  /** Returns the first result. */
  const first = async (client: Client, query: string): Promise<any> => {
    const results = client.iterate({ query });
    const result = results.next();
    return (await result).value;
  };

  it('deliver published values through the filter', async () => {
    const results = connect().iterate({ query: 'subscription { ticked(above: 5) }' });

    expect((await whileTicking(results.next())).value).toEqual({ data: { ticked: 7 } });
    await results.return!();
  });

  it('authenticate the account by the token in the parameters', async () => {
    expect(await first(connect(bearer()), 'subscription { mine }')).toEqual({
      data: { mine: 'ada@example.com' },
    });
  });

  it('are closed to a session cookie, which a page of another site sends, too', async () => {
    const session = await api.accounts.session('ada@example.com');
    const params = { 'X-CSRF-Token': session.headers['x-csrf-token'], Cookie: session.cookie.cookie };

    for (const connectionParams of [{}, params])
      expect(await first(connect(connectionParams, session.cookie), 'subscription { mine }')).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED', requestId: expect.any(String) } }],
      });
  });

  it('check access: without a decorator an account, with one what it says', async () => {
    expect(await first(connect(), 'subscription { mine }')).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED', requestId: expect.any(String) } }],
    });
    expect(await first(connect(bearer()), 'subscription { ofStaff }')).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('end with the login', async () => {
    await api.accounts.register('bob@example.com');
    const { access, refresh } = await api.accounts.login('bob@example.com');
    const client = connect({ Authorization: `Bearer ${access}` });
    const results = client.iterate({ query: 'subscription { ticked }' });
    const received = results.next().then(
      () => undefined,
      (error: unknown) => error,
    );
    await until('it is open', async () => {
      const open = connect({ Authorization: `Bearer ${access}` });
      return (await first(open, 'subscription { mine }')).data.mine === 'bob@example.com';
    });

    await api.post('/auth/logout/', { refresh });
    expect(await received).toMatchObject({ code: 4403 });
  });

  it('reject an invalid token, and close the connection with 4403', async () => {
    await expect(
      first(connect({ Authorization: 'Bearer x' }), 'subscription { ticked }'),
    ).rejects.toMatchObject({ code: 4403 });
  });

  it.each([
    ['subscription { a: ticked b: ticked c: ticked d: ticked }', 'QUERY_TOO_COMPLEX'],
    [`subscription { ticked } #${'x'.repeat(64 * 1024)}`, 'PAYLOAD_TOO_LARGE'],
    [`subscription { ${'__typename '.repeat(3000)} }`, 'QUERY_TOO_COMPLEX'],
    ['subscription { nope }', 'BAD_USER_INPUT'],
    ['subscription {', 'BAD_USER_INPUT'],
    ['{ one }', 'BAD_USER_INPUT'],
    ['mutation { tick(n: 1) }', 'BAD_USER_INPUT'],
  ])('apply the limits of queries, and reject other operations: %.40s', async (query, code) => {
    await expect(first(connect(), query)).rejects.toMatchObject([{ extensions: { code } }]);
  });

  it('mask internal errors', async () => {
    const { errors } = await whileTicking(first(connect(), 'subscription { broken }'));

    expect(errors).toEqual([
      expect.objectContaining({
        message: 'Internal error; report the request id to the operators of the service',
        extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
      }),
    ]);
  });

  it.each([
    ['another path', '/health', 'websocket'],
    ['another protocol', '/graphql', 'h2c'],
  ])('leave an upgrade at %s a plain request, also of a client that resets it', async (_, path, protocol) => {
    const { hostname, port } = new URL(url);
    const open = () =>
      connectTo(Number(port), hostname, function (this: Socket) {
        this.on('error', () => undefined);
        const upgrade = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==`;
        this.write(
          `GET ${path}?query={__typename} HTTP/1.1\r\nHost: x\r\nApollo-Require-Preflight: 1\r\n${upgrade}\r\n\r\n`,
        );
      });
    for (let n = 0; n < 10; n++) {
      const socket = open();
      await once(socket, 'connect');
      socket.resetAndDestroy();
    }
    const socket = open();
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('hold no memory of the service when they are over', async () => {
    expect(await first(connect(), 'subscription { largest }')).toEqual({ data: { largest: 1 } });
    // Both together are all that there is.
    expect(await first(connect(), 'subscription { largest }')).toEqual({ data: { largest: 1 } });
  });

  it('are an error of the client over HTTP', async () => {
    const { body } = await api.graphql('subscription { ticked }');
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
    expect(body.errors[0].message).toContain('WebSocket');
  });

  it('end when their client has enough, and when the service stops', async () => {
    const client = connect();
    const results = client.iterate({ query: 'subscription { ticked }' });
    await whileTicking(results.next());
    await results.return!();
    const open = connect().iterate({ query: 'subscription { ticked }' });
    await whileTicking(open.next());

    const stopped = api.app.close();
    const untilTheEnd = async () => {
      while (!(await open.next()).done);
    };
    await expect(untilTheEnd()).rejects.toMatchObject({ code: 1001 });
    await stopped;
  });
});
