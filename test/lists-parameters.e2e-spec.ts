import { beforeAll, expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { created } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { Receiver } from './support/receiver.js';
import { shuffle } from './support/shuffle.js';
import { until } from './support/until.js';
import { pathOf, type TestWebhook, Webhooks } from './support/webhooks.js';

type Row = Record<string, any>;
type Filter = (row: Row) => boolean;

/** The values of a parameter, each with the rows that it selects. */
type Values = readonly (readonly [value: string, filter: Filter])[];

const ALL: Filter = () => true;

/** Each combination of the values of parameters. */
function combinations(parameters: Readonly<Record<string, Values>>): [Record<string, string>, Filter][] {
  return Object.entries(parameters).reduce<[Record<string, string>, Filter][]>(
    (found, [name, values]) =>
      found.flatMap(([query, filter]) =>
        values.map(([value, next]): [Record<string, string>, Filter] => [
          { ...query, [name]: value },
          (row) => filter(row) && next(row),
        ]),
      ),
    [[{}, ALL]],
  );
}

/** What is compared, one for each combination of parameters. */
interface Compared {
  readonly found: unknown[];
  readonly expected: unknown[];
}

const WORDS = ['', 'ada', 'ADA l', 'example.com', 'account1', 'nobody', '@'];
const flag = (name: string): Values => [
  ['', ALL],
  ['true', (row) => row[name] === true],
  ['false', (row) => row[name] === false],
];

const servers = { receiver: () => new Receiver() };
onEach('all parameters of a list together', { modules: [FixtureModule], servers }, ({ api, receiver }) => {
  let staff: Record<string, string>;
  let webhooks: TestWebhook[];

  beforeAll(async () => {
    const calls = await Webhooks.of(api, receiver);
    // Their key may not list accounts.
    staff = bearer((await api.accounts.login('staff@example.com')).access);
    for (let n = 0; n < 14; n++) {
      // In another order than the ids.
      const label = (n * 5 + 2) % 14;
      const email = `account${label}@example.com`;
      await api.accounts.register(email, { name: label % 3 === 0 ? 'Ada Lovelace' : `Somebody ${label}` });
      if (label % 2 === 0) await api.accounts.admin().setStaff(email, true);
      if (label % 4 < 2) await api.accounts.admin().setActive(email, false);
    }
    webhooks = [await calls.create({ types: ['*'] }), await calls.create({ types: ['*'] })];
    const dummies = [];
    for (let n = 0; n < 7; n++) dummies.push(await api.dummies.create({ text: `${(n * 3) % 7}` }));
    for (const n of [3, 0, 5, 1])
      await api.patch(`/v1/dummies/${dummies[n]!.id}`, { text: 'Changed' }, staff);
    for (const n of [4, 1]) await api.delete(`/v1/dummies/${dummies[n]!.id}`, staff);
    for (let n = 0; n < 9; n++) {
      const headers = { ...staff, 'idempotency-key': `order-${n}` };
      created(await api.post('/v1/orders', { n: (n * 4) % 9 }, headers));
    }
    for (const webhook of webhooks)
      await until('all is delivered', async () => {
        const { data } = (await api.get(`${pathOf(webhook)}/deliveries?limit=100`, staff)).body;
        return data.length === 22 && data.every((row: Row) => row['status'] === 'delivered');
      });
    await api.rows.execute(
      `UPDATE webhook_deliveries SET status = CASE id % 3 WHEN 0 THEN 'failed' ELSE 'pending' END,
         next_attempt_at = '2999-01-01' WHERE id % 3 <> 1`,
    );
    for (const table of ['accounts', 'audit_entries', 'events', 'webhook_deliveries', 'orders'])
      await shuffle(api, table);
  });

  const read = async (path: string, query: Record<string, string>): Promise<any> =>
    (await api.get(`${path}?${new URLSearchParams(query).toString()}`, staff)).body;

  /** Each page of each combination, and what a plain filter of all rows gives. */
  async function pagesOf(path: string, parameters: Record<string, Values>): Promise<Compared> {
    const { data: rows } = await read(path, { limit: '100' });
    const compared: Compared = { found: [], expected: [] };
    for (const [query, filter] of combinations(parameters)) {
      const matching = rows.filter(filter);
      const total = matching.length;
      for (const limit of [3, 8])
        for (let page = 1; page <= total / limit + 1; page++) {
          const meta = { total, page, limit, has_next: page * limit < total };
          const data = matching.slice((page - 1) * limit, page * limit);
          compared.expected.push({ query, data, meta });
          const found = await read(path, { ...query, limit: `${limit}`, page: `${page}` });
          compared.found.push({ query, ...found });
        }
    }
    return compared;
  }

  /** What one finds by following the cursor of each combination, and what a plain filter of all rows gives. */
  async function feedsOf(path: string, parameters: Record<string, Values>): Promise<Compared> {
    const { data: rows } = await read(path, { limit: '100' });
    const compared: Compared = { found: [], expected: [] };
    for (const [query, filter] of combinations(parameters))
      for (const limit of [1, 4]) {
        const found: Row[] = [];
        for (let cursor = ''; ;) {
          const page = await read(path, { ...query, limit: `${limit}`, cursor });
          found.push(...page.data);
          if (!page.has_next || page.data.length !== limit) break;
          cursor = page.next_cursor;
        }
        compared.found.push({ query, data: found });
        compared.expected.push({ query, data: rows.filter(filter) });
      }
    return compared;
  }

  it('gives the pages of a plain filter: accounts', async () => {
    const { found, expected } = await pagesOf('/auth/accounts/', {
      q: WORDS.map((q) => [
        q,
        ({ email, name }) => [email, name].some((text) => text.toLowerCase().includes(q.toLowerCase())),
      ]),
      is_active: flag('is_active'),
      is_staff: flag('is_staff'),
    });
    expect(found).toEqual(expected);
    expect(found.length).toBeGreaterThan(150);
  });

  it('gives the pages of a plain filter: orders', async () => {
    const { found, expected } = await pagesOf('/v1/orders', {});
    expect(found).toEqual(expected);
    expect(found).toHaveLength(6);
  });

  it('gives each row once: audit entries', async () => {
    const { data } = await read('/v1/audit', { limit: '100' });
    const values = (name: string): Values => {
      const known = [...new Set<string | number>(data.map((row: Row) => row[name]))].filter(Boolean);
      return [
        ['', ALL],
        ...known.slice(0, 4).map((value) => [String(value), (row: Row) => row[name] === value] as const),
      ];
    };
    const [accounts, subjects] = [values('account_id'), values('subject')];
    expect([accounts.length, subjects.length]).toEqual([5, 5]);
    const { found, expected } = await feedsOf('/v1/audit', { account_id: accounts, subject: subjects });
    expect(found).toEqual(expected);
  });

  it('gives each row once: events', async () => {
    const ofTypes = (...types: string[]) =>
      [types.join(','), ({ type }: Row) => types.includes(type as string)] as const;
    const types = [
      ['', ALL] as const,
      ofTypes('dummy.updated'),
      ofTypes('dummy.deleted', 'dummy.created'),
      ofTypes('order.created', 'dummy.deleted'),
    ];
    const { found, expected } = await feedsOf('/v1/events', { types });
    expect(found).toEqual(expected);
  });

  it('gives each row once: deliveries', async () => {
    const ofStatus = (status: string) => [status, (row: Row) => row['status'] === status] as const;
    const status = [['', ALL] as const, ...['pending', 'delivered', 'failed'].map(ofStatus)];
    for (const webhook of webhooks) {
      const { found, expected } = await feedsOf(`${pathOf(webhook)}/deliveries`, { status });
      expect(found).toEqual(expected);
    }
  });
});
