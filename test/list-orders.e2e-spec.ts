import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Passkey } from '../src/auth/passkey/passkey.entity.js';
import { SocialIdentity } from '../src/auth/social/social-identity.entity.js';
import { created, startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { type Delivered, Receiver } from './support/receiver.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';
import { usersOf } from './support/users.js';

const ROWS = 8;
const HOUR = 3600_000;

/** The tables of lists. */
const TABLES = [
  'users',
  'orders',
  'webhooks',
  'webhook_deliveries',
  'audit_entries',
  'events',
  'accounts',
  'logins',
  'api_keys',
  'passkeys',
  'social_identities',
];

describe.each(STORES)('the order of lists on %s', (store) => {
  let api: TestApi;
  let receiver: Receiver;
  let staff: Record<string, string>;
  let ada: Record<string, string>;
  let webhookId: number;

  beforeAll(async () => {
    receiver = await Receiver.start();
    api = await startApi(store, {}, [FixtureModule]);
    staff = await api.accounts.logInNewStaff();
    ada = await api.accounts.logInNew('ada@example.com');
    const bob = await api.accounts.logInNew('bob@example.com');
    const [adaId, bobId] = [await idOf('ada'), await idOf('bob')];
    for (let n = 0; n < ROWS; n++) {
      await usersOf(api).create();
      created(await api.post('/v1/orders', { n }, { 'idempotency-key': String(n) }));
      await api.accounts.register(`account${n}@example.com`);
      await api.accounts.login('ada@example.com');
      for (const headers of [ada, bob])
        created(await api.post('/auth/api-keys/', { name: `Key ${n}`, scope: 'read' }, headers));
      for (const accountId of [adaId, bobId]) {
        const createdAt = new Date();
        await repository(Passkey).save({
          accountId,
          credentialId: `${accountId}-${n}`,
          publicKey: 'none',
          counter: 0,
          transports: '[]',
          name: `Passkey ${n}`,
          createdAt,
        });
        await repository(SocialIdentity).save({
          accountId,
          provider: 'github',
          subject: `${accountId}-${n}`,
          createdAt,
        });
      }
      const { id } = created(
        await api.post('/v1/webhooks', { url: `${receiver.url}/${n}`, types: ['dummy.created'] }, staff),
      );
      webhookId = id;
    }
    for (let n = 0; n < ROWS; n++) await api.dummies.create();
    await receiver.at(`/${ROWS - 1}`, ROWS);
    await until('all events have their positions', async () => {
      const [row] = await api.rows.all<{ n: number }>(
        'SELECT count(*) AS n FROM events WHERE position IS NULL',
      );
      return row!.n === 0;
    });
    for (const table of TABLES) await shuffle(table);
  });
  afterAll(() => Promise.all([api.stop(), receiver.stop()]));

  const repository = <Row extends object>(entity: new () => Row) =>
    api.app.get<Repository<Row>>(getRepositoryToken(entity), { strict: false });
  const idOf = async (name: string) => (await api.accounts.admin().find(`${name}@example.com`)).id;

  /** Writes the rows of a table anew, in another order than that of their ids. On SQLite, they stay in it. */
  async function shuffle(table: string): Promise<void> {
    if (store === 'SQLite') return;
    await api.rows.execute(`CREATE INDEX shuffled ON ${table} (md5(id::text))`);
    await api.rows.execute(`CLUSTER ${table} USING shuffled`);
    await api.rows.execute('DROP INDEX shuffled');
  }

  it.each<[path: string, order: 'newest first' | 'oldest first']>([
    ['/v1/users?limit=100', 'oldest first'],
    ['/v2/users?limit=100', 'oldest first'],
    ['/v1/orders', 'newest first'],
    ['/v1/webhooks', 'oldest first'],
    ['/v1/webhooks/:id/deliveries', 'newest first'],
    ['/v1/webhooks/:id/deliveries?status=delivered', 'newest first'],
    ['/v1/audit?limit=100', 'newest first'],
    ['/v1/events?limit=100', 'oldest first'],
    ['/auth/accounts/?limit=100', 'newest first'],
    ['/auth/accounts/?limit=100&q=EXAMPLE', 'newest first'],
    ['/auth/api-keys/', 'oldest first'],
    ['/auth/passkeys/', 'oldest first'],
    ['/auth/identities/', 'oldest first'],
  ])('of %s is %s whatever their order on disk', async (path, order) => {
    const headers = path.startsWith('/auth/') && !path.includes('accounts') ? ada : staff;
    const { body } = await api.get(path.replace(':id', String(webhookId)), headers);
    // Version 1 of users has another envelope.
    const ids = (body.data ?? body.users).map(({ id }: { id: unknown }) =>
      Number(String(id).replace(/^.*-/, '')),
    );
    const sign = order === 'newest first' ? -1 : 1;

    expect(ids.length).toBeGreaterThanOrEqual(ROWS);
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => sign * (a - b)));
  });

  it('of logins is by their time', async () => {
    const { data } = (await api.get('/auth/sessions/', ada)).body;
    const times = data.map(({ created_at }: { created_at: string }) => created_at);

    expect(times.length).toBeGreaterThan(ROWS);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('of lists in the export of an account is that of their pages', async () => {
    const exported = (await api.get('/auth/me/export/', ada)).body;

    for (const [list, path] of [
      ['api_keys', '/auth/api-keys/'],
      ['passkeys', '/auth/passkeys/'],
      ['identities', '/auth/identities/'],
    ] as const) {
      const { data } = (await api.get(path, ada)).body;
      const idsOfRows = (rows: { id: number }[]) => rows.map(({ id }) => id);
      expect([list, idsOfRows(exported[list])]).toEqual([list, idsOfRows(data)]);
    }
  });

  it('of users over GraphQL is by their ids', async () => {
    const { data } = (await api.graphql('{ users(limit: 100) { id } }')).body;
    const ids = data.users.map(({ id }: { id: string }) => Number(id));

    expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b));
  });

  it('of attempts is that of the deliveries', async () => {
    const url = `${receiver.url}/failing`;
    const webhook = created(await api.post('/v1/webhooks', { url, types: ['dummy.created'] }, staff));
    receiver.respondAt('/failing', 500);
    const attempts = () => receiver.delivered.filter((each) => each.path === '/failing');
    for (let n = 0; n < ROWS; n++) await api.dummies.create();
    await receiver.at('/failing', ROWS);
    await until('all attempts have failed', async () => {
      const { data } = (await api.get(`/v1/webhooks/${webhook.id}/deliveries`, staff)).body;
      return data.every((each: { response_status: number | null }) => each.response_status === 500);
    });
    // The next ones are due together, and are made one at a time, because the webhook fails.
    const due = new Date(api.now.getTime() + HOUR).toISOString();
    await api.rows.execute('UPDATE webhook_deliveries SET next_attempt_at = :due', { due });
    await shuffle('webhook_deliveries');
    api.advanceClock(HOUR + 1000);

    await receiver.at('/failing', 2 * ROWS);
    const [first, second] = [attempts().slice(0, ROWS), attempts().slice(ROWS, 2 * ROWS)];
    const positionOf = ({ headers }: Delivered) => Number(String(headers['webhook-id']).split('-')[1]);
    expect(second.map(positionOf)).toEqual(first.map(positionOf).toSorted((a, b) => a - b));
  });
});
