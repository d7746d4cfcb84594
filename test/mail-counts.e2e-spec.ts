import { expect, it } from '@jest/globals';
import { counterId, Counters } from '../src/accounts/counters.js';
import { emailKey } from '../src/accounts/email-address.js';
import { siteOf } from '../src/platform/http/client.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';

const DAY = 24 * 3600_000;
const NETWORK = siteOf('127.0.0.1');

/**
 * The mails that the network causes; those about addresses to the own and to the new one, in all and from the network; and
 * resets of the own one.
 */
type Counts = Record<(typeof NAMES)[number], number>;
const NAMES = ['network', 'own', 'ownBy', 'next', 'nextBy', 'resets', 'resetsBy'] as const;
const BEFORE: Counts = { network: 7, own: 3, ownBy: 3, next: 3, nextBy: 3, resets: 3, resetsBy: 3 };

const NOTHING = {};
const TO_OWN = { network: 8, own: 4, ownBy: 4 };
const TO_NEXT = { network: 8, next: 4, nextBy: 4 };
const RESET = { network: 8, resets: 4, resetsBy: 4 };

type Owner = 'anonymous' | 'unverified' | 'verified by the link alone' | 'confirmed';

/** Who makes a call, the call, its body, the status, and what is other than before. */
type Row = readonly [owner: Owner, call: string, body: object, status: number, changed: Partial<Counts>];

/** In a body, they are replaced by the addresses of the test. */
const [OWN, NEXT] = ['OWN', 'NEXT'];
const CHANGE = { new_email: NEXT, password: PASSWORD };
const PASSWORD_CHANGE = { old_password: PASSWORD, new_password: 'another password' };

const ROWS: readonly Row[] = [
  ['anonymous', 'register/', { email: NEXT, name: 'Ada', password: PASSWORD }, 201, TO_NEXT],
  ['anonymous', 'register/', { email: OWN, name: 'Ada', password: PASSWORD }, 409, NOTHING],
  ['anonymous', 'login/', { email: OWN, password: PASSWORD }, 200, NOTHING],
  ['anonymous', 'email/resend/', { email: OWN, password: PASSWORD }, 202, TO_OWN],
  ['anonymous', 'email/resend/', { email: OWN, password: 'wrong' }, 401, NOTHING],
  ['unverified', 'email/resend/', {}, 202, TO_OWN],
  ['confirmed', 'email/resend/', {}, 409, NOTHING],
  ['unverified', 'email/change/', CHANGE, 202, { ...TO_OWN, ...TO_NEXT, network: 9 }],
  ['verified by the link alone', 'email/change/', CHANGE, 202, { ...TO_OWN, ...TO_NEXT, network: 9 }],
  ['confirmed', 'email/change/', CHANGE, 202, { ...TO_NEXT, own: 4 }],
  ['confirmed', 'email/change/', { ...CHANGE, password: 'wrong' }, 400, NOTHING],
  ['anonymous', 'password/reset/', { email: OWN }, 202, RESET],
  ['anonymous', 'password/reset/', { email: NEXT }, 202, { network: 8 }],
  ['unverified', 'change-password/', PASSWORD_CHANGE, 200, NOTHING],
  ['verified by the link alone', 'change-password/', PASSWORD_CHANGE, 200, { network: 8 }],
  ['confirmed', 'change-password/', PASSWORD_CHANGE, 200, NOTHING],
];

/** What is used up, and which calls are refused then; the others send nothing, and say nothing of it. */
const LIMITS: readonly (readonly [name: keyof Counts, max: number, row: Row])[] = [
  [
    'network',
    100,
    ['anonymous', 'register/', { email: NEXT, name: 'Ada', password: PASSWORD }, 201, NOTHING],
  ],
  ['network', 100, ['unverified', 'email/resend/', {}, 429, NOTHING]],
  ['network', 100, ['confirmed', 'email/change/', CHANGE, 202, NOTHING]],
  ['network', 100, ['anonymous', 'password/reset/', { email: OWN }, 202, NOTHING]],
  ['network', 100, ['verified by the link alone', 'change-password/', PASSWORD_CHANGE, 200, NOTHING]],
  ['network', 99, ['unverified', 'email/change/', CHANGE, 202, { ...TO_NEXT, network: 100 }]],
  ['own', 20, ['unverified', 'email/resend/', {}, 429, NOTHING]],
  ['ownBy', 10, ['unverified', 'email/resend/', {}, 429, NOTHING]],
  ['own', 20, ['unverified', 'email/change/', CHANGE, 202, TO_NEXT]],
  ['ownBy', 10, ['unverified', 'email/change/', CHANGE, 202, TO_NEXT]],
  ['ownBy', 10, ['confirmed', 'email/change/', CHANGE, 202, { ...TO_NEXT, own: 4 }]],
  ['next', 20, ['confirmed', 'email/change/', CHANGE, 202, NOTHING]],
  ['nextBy', 10, ['confirmed', 'email/change/', CHANGE, 202, NOTHING]],
  ['resets', 20, ['anonymous', 'password/reset/', { email: OWN }, 202, NOTHING]],
  ['resetsBy', 10, ['anonymous', 'password/reset/', { email: OWN }, 202, NOTHING]],
  ['resets', 20, ['unverified', 'email/resend/', {}, 202, TO_OWN]],
  ['own', 20, ['anonymous', 'password/reset/', { email: OWN }, 202, RESET]],
];

onEach('the counts of mails', { servers: MAILS }, ({ api }) => {
  let tests = 0;

  /** @returns the counts afterwards */
  async function after([owner, call, body]: Row, before: Counts): Promise<{ reply: Reply; counts: Counts }> {
    tests++;
    const [own, next] = [`own${tests}@example.com`, `next${tests}@example.com`];
    await api.rows.execute('DELETE FROM counters');
    await api.accounts.register(own);
    const headers = owner === 'anonymous' ? {} : bearer((await api.accounts.login(own)).access);
    const [isVerified, isConfirmed] = [/verified by|confirmed/.test(owner), owner === 'confirmed'];
    await api.rows.execute(
      `UPDATE accounts SET is_email_verified = ${isVerified}, is_owner_confirmed = ${isConfirmed} WHERE email = :own`,
      { own },
    );

    const ids = idsOf(own, next);
    await api.rows.execute('DELETE FROM counters');
    const counters = api.app.get(Counters, { strict: false });
    await counters.add(NAMES.map((name) => ({ id: ids[name], period: DAY })));
    for (const name of NAMES)
      await api.rows.execute('UPDATE counters SET count = :count WHERE id = :id', {
        id: ids[name],
        count: before[name],
      });

    const addresses: Record<string, string> = { [OWN]: own, [NEXT]: next };
    const payload = JSON.parse(JSON.stringify(body), (_, value) => addresses[value as string] ?? value);
    const reply = await api.post(`/auth/${call}`, payload, headers);
    const found = await counters.find(Object.values(ids));
    const countOf = (name: keyof Counts) => found.find(({ id }) => id === ids[name])!.count;
    return { reply, counts: Object.fromEntries(NAMES.map((name) => [name, countOf(name)])) as Counts };
  }

  it.each(ROWS)('%s: %s with %j is %i, and counts %j', async (...row) => {
    const { reply, counts } = await after(row, BEFORE);

    expect(reply).toHaveStatus(row[3]);
    expect(counts).toEqual({ ...BEFORE, ...row[4] });
  });

  it.each(LIMITS)('with %s at %i: %j', async (name, max, row) => {
    const before = { ...BEFORE, [name]: max };
    const { reply, counts } = await after(row, before);

    expect(reply).toHaveStatus(row[3]);
    expect(counts).toEqual({ ...before, ...row[4] });
  });
});

function idsOf(own: string, next: string): Record<keyof Counts, string> {
  const to = (group: string, email: string, ...by: string[]) =>
    counterId('mails to', group, emailKey(email), ...by);
  return {
    network: counterId('mails by', NETWORK),
    own: to('addresses', own),
    ownBy: to('addresses', own, NETWORK),
    next: to('addresses', next),
    nextBy: to('addresses', next, NETWORK),
    resets: to('resets', own),
    resetsBy: to('resets', own, NETWORK),
  };
}
