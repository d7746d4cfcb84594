import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Args, Int, Mutation, Resolver } from '@nestjs/graphql';
import type { Account } from '../../../src/accounts/account.entity.js';
import { CurrentAccount, OwnerAccess } from '../../../src/platform/access/index.js';
import { JsonScalar } from '../../../src/platform/graphql/json.scalar.js';
import { KeyedOperations } from '../../../src/platform/idempotency/keyed-operations.service.js';
import { type Reply, startApi, type TestApi } from '../../support/api.js';
import { TICKETS_PATH, TicketsService, toTicketView } from '../../support/fixture/tickets.js';
import { FixtureModule } from '../../support/fixture.module.js';
import { recordedEvents } from '../../support/recorded-changes.js';
import { STORES } from '../../support/stores.js';

@Resolver()
@OwnerAccess()
class TicketsResolver {
  constructor(
    private readonly tickets: TicketsService,
    private readonly operations: KeyedOperations,
  ) {}

  @Mutation(() => Int)
  createTicket(
    @Args('idempotencyKey') key: string,
    @Args('text', { type: () => JsonScalar }) body: object,
    @CurrentAccount() account: Account | null,
  ): Promise<number> {
    const operation = { caller: account?.id ?? null, path: TICKETS_PATH, key, body };
    return this.operations.createOnce(operation, async () => {
      const row = await this.tickets.create(JSON.stringify(body), account);
      return { row, view: toTicketView(row) };
    });
  }
}

@Module({ imports: [FixtureModule], providers: [TicketsResolver] })
class TicketsGraphqlModule {}

type Headers = Record<string, string>;

const OF_ONE = new Set(['x-request-id', 'date', 'idempotent-replayed', 'location', 'etag', 'content-length']);

/** The status and the headers of a response, without those of one request or one ticket. */
function comparable({ status, headers }: Reply): object {
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE.has(name))),
  };
}

describe.each(STORES)('KeyedOperations on %s', (store) => {
  let api: TestApi;
  let ada: Headers;
  let bob: Headers;
  beforeAll(async () => {
    api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [TicketsGraphqlModule]);
    ada = await api.accounts.logInNew('ada@example.com');
    bob = await api.accounts.logInNew('bob@example.com');
  });
  afterAll(() => api.stop());

  const CREATE = 'mutation ($key: String!, $text: JSON!) { createTicket(idempotencyKey: $key, text: $text) }';
  const create = async (key: string, text: object, headers = ada): Promise<any> => {
    const { data, errors } = (await api.graphql(CREATE, { key, text }, headers)).body;
    return data?.createTicket ?? errors[0];
  };
  const overRest = (key: string, text: object, headers = ada): Promise<Reply> =>
    api.post(TICKETS_PATH, text, { ...headers, 'idempotency-key': key });
  const count = async (): Promise<number> => (await api.get(TICKETS_PATH, ada)).body.meta.total;

  it.each(['', ' ', 'é', 'a b', 'a\nb', 'x'.repeat(256), '\0'])('refuse the key %j', async (key) => {
    expect(await create(key, {})).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });

  it('create one resource for each key, whatever the order of members', async () => {
    const [key, before] = [randomUUID(), await count()];
    const id = await create(key, { a: 1, b: [2, { c: 3, d: 4 }] });

    expect(await create(` ${key} `, { b: [2, { d: 4, c: 3 }], a: 1 })).toBe(id);
    expect(await create(key, { a: 2 })).toMatchObject({
      message: 'The Idempotency-Key was already used with another body',
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(await count()).toBe(before + 1);
    expect(await create(key, { a: 2 }, bob)).toBeGreaterThan(id);
  });

  it('share their keys with the REST handler, in both directions', async () => {
    const [key, other] = [randomUUID(), randomUUID()];
    const id = await create(key, { a: 1 });
    const replayed = await overRest(key, { a: 1 });
    const fresh = await overRest(other, { a: 1 });

    expect(replayed.headers).toMatchObject({
      'idempotent-replayed': 'true',
      location: `${TICKETS_PATH}/${id}`,
      etag: (await api.get(`${TICKETS_PATH}/${id}`, ada)).headers['etag'],
    });
    expect(replayed.text).toBe((await api.get(`${TICKETS_PATH}/${id}`, ada)).text);
    expect(comparable(replayed)).toEqual(comparable(fresh));
    expect(await create(other, { a: 1 })).toBe(fresh.body.data.id);
    expect(await overRest(key, { a: 3 })).toBeError('IDEMPOTENCY_KEY_REUSED');
  });

  it('create one resource for many concurrent requests over both APIs', async () => {
    for (let round = 0; round < 5; round++) {
      const [key, before] = [randomUUID(), await count()];
      const ids = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          if (n % 2 === round % 2) {
            const { status, body } = await overRest(key, { round });
            return status === 201 ? body.data.id : body.error.code;
          }
          const made = await create(key, { round });
          if (typeof made === 'number') return made;
          expect(made).toMatchObject({
            message: 'A request with this Idempotency-Key is still in progress',
            extensions: { code: 'CONFLICT' },
          });
          return 'IDEMPOTENCY_KEY_IN_USE';
        }),
      );

      const others = new Set(ids.filter((id) => id !== 'IDEMPOTENCY_KEY_IN_USE'));
      expect([...others]).toEqual([expect.any(Number)]);
      expect(await count()).toBe(before + 1);
    }
  });

  it('record one event and one entry of the audit log', async () => {
    const key = randomUUID();
    const id = await create(key, { a: 1 });
    await create(key, { a: 1 });
    await overRest(key, { a: 1 });
    const staff = await api.accounts.logInNewStaff();

    const subject = `${TICKETS_PATH}/${id}`;
    const { body } = await api.get(`/v1/audit?subject=${encodeURIComponent(subject)}`, staff);
    expect(body.data.map(({ action }: any) => action)).toEqual(['mutation createTicket']);
    const events = await recordedEvents(api, 'ticket.created');
    expect(events.filter((event: any) => event.subject === subject)).toHaveLength(1);
  });
});
