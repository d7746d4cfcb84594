import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Args, Int, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { PubSub } from 'graphql-subscriptions';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Public } from '../../../src/platform/access/index.js';
import { Account } from '../../../src/accounts/account.entity.js';
import { CurrentAccount } from '../../../src/platform/access/index.js';
import { startApi, type TestApi } from '../../support/api.js';
import { STORES } from '../../support/stores.js';

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
}

@Module({ providers: [TicksResolver, MineResolver] })
class TicksModule {}

describe.each(STORES)('subscriptions over graphql-ws on %s', (store) => {
  let api: TestApi;
  let token: string;
  let url: string;
  const clients: Client[] = [];
  beforeAll(async () => {
    api = await startApi(store, { GRAPHQL_SUBSCRIPTIONS: 'on', GRAPHQL_MAX_ALIASES: '3' }, [TicksModule]);
    url = (await api.listen()).replace('http', 'ws');
    await api.accounts.register('ada@example.com');
    token = (await api.accounts.login('ada@example.com')).access;
  });
  afterAll(async () => {
    for (const client of clients) await client.dispose();
    await api.stop();
  });

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
    const received = results.next();
    const timer = setInterval(() => {
      void api.graphql('mutation { tick(n: 1) }');
      void api.graphql('mutation { tick(n: 7) }');
    }, 50);

    expect((await received).value).toEqual({ data: { ticked: 7 } });
    clearInterval(timer);
    await results.return!();
  });

  it.each([
    ['a parameter', () => connect({ Authorization: `Bearer ${token}` })],
    ['a header', () => connect(undefined, { authorization: `Bearer ${token}` })],
  ])('authenticate the account by its token in %s', async (_, client) => {
    expect(await first(client(), 'subscription { mine }')).toEqual({ data: { mine: 'ada@example.com' } });
  });

  it('authenticate the account by its session cookie, only with the CSRF token', async () => {
    const session = await api.accounts.session('ada@example.com');

    expect(
      await first(
        connect({ 'X-CSRF-Token': session.headers['x-csrf-token'] }, session.cookie),
        'subscription { mine }',
      ),
    ).toEqual({ data: { mine: 'ada@example.com' } });
    await expect(first(connect({}, session.cookie), 'subscription { mine }')).rejects.toMatchObject({
      code: 4403,
    });
  });

  it('reject an invalid or missing token', async () => {
    await expect(
      first(connect({ Authorization: 'Bearer x' }), 'subscription { ticked }'),
    ).rejects.toMatchObject({ code: 4403 });
    expect(await first(connect(), 'subscription { mine }')).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED', requestId: expect.any(String) } }],
    });
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
    const received = first(connect(), 'subscription { broken }');
    const timer = setInterval(() => void api.graphql('mutation { tick(n: 1) }'), 50);

    expect((await received).errors).toEqual([
      expect.objectContaining({
        message: 'Internal error; report the request id to the operators of the service',
        extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
      }),
    ]);
    clearInterval(timer);
  });

  it('are served at this path only, and can be turned off', async () => {
    const other = await startApi(store, { GRAPHQL_SUBSCRIPTIONS: 'off' });
    await other.listen();
    const elsewhere = new WebSocket(`${url}/other`, 'graphql-transport-ws');
    const off = new WebSocket(`${(await other.app.getUrl()).replace('http', 'ws')}/graphql`);

    for (const socket of [elsewhere, off]) {
      const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
      expect(error.message).toMatch(/Unexpected server response: 4\d\d/);
    }
    await other.stop();
  });
});
