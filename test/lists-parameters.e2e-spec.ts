import { beforeAll, expect, it } from '@jest/globals';
import { FixtureModule } from './support/fixture.module.js';
import { ALL, ListReader, type Row, type Values } from './support/list-reader.js';
import { onEach } from './support/on-each.js';
import { shuffle } from './support/shuffle.js';

const WORDS = ['', 'ada', 'ADA l', 'example.com', 'account1', 'nobody', '@'];
const flag = (name: string): Values => [
  ['', ALL],
  ['true', (row) => row[name] === true],
  ['false', (row) => row[name] === false],
];

onEach('all parameters of a list together', { modules: [FixtureModule] }, ({ api }) => {
  let staff: Record<string, string>;

  beforeAll(async () => {
    staff = await api.accounts.logInNewStaff();
    for (let n = 0; n < 14; n++) {
      // In another order than the ids.
      const label = (n * 5 + 2) % 14;
      const email = `account${label}@example.com`;
      await api.accounts.register(email, { name: label % 3 === 0 ? 'Ada Lovelace' : `Somebody ${label}` });
      if (label % 2 === 0) await api.accounts.admin().setStaff(email, true);
      if (label % 4 < 2) await api.accounts.admin().setActive(email, false);
    }
    const dummies = [];
    for (let n = 0; n < 7; n++) dummies.push(await api.dummies.create({ text: `${(n * 3) % 7}` }));
    for (const n of [3, 0, 5, 1])
      await api.patch(`/v1/dummies/${dummies[n]!.id}`, { text: 'Changed' }, staff);
    for (const n of [4, 1]) await api.delete(`/v1/dummies/${dummies[n]!.id}`, staff);
    for (const table of ['accounts', 'audit_entries']) await shuffle(api, table);
  });

  it('gives the pages of a plain filter: accounts', async () => {
    const { found, expected } = await new ListReader(api, '/auth/accounts/', staff).pages({
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

  it('gives each row once: audit entries', async () => {
    const list = new ListReader(api, '/v1/audit', staff);
    const { data } = await list.read({ limit: '100' });
    const values = (name: string): Values => {
      const known = [...new Set<string | number>(data.map((row: Row) => row[name]))].filter(Boolean);
      return [
        ['', ALL],
        ...known.slice(0, 4).map((value) => [String(value), (row: Row) => row[name] === value] as const),
      ];
    };
    const [accounts, subjects] = [values('account_id'), values('subject')];
    expect([accounts.length, subjects.length]).toEqual([5, 5]);
    const { found, expected } = await list.feeds({ account_id: accounts, subject: subjects });
    expect(found).toEqual(expected);
  });
});
