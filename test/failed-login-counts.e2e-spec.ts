import { beforeAll, expect, it } from '@jest/globals';
import { emailKey } from '../src/accounts/email-address.js';
import { counterId, Counters } from '../src/accounts/counters.js';
import { PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { FactorOwner } from './support/second-factor.js';
import { GitHub } from './support/social/github.js';

const ADDRESS = '127.0.0.1';
const HOUR = 60 * 60_000;

/** What has failed: of the account from the address, from the address, and codes of the app of the account. */
interface Counts {
  readonly pair: number;
  readonly network: number;
  readonly codes: number;
}
const BEFORE: Counts = { pair: 3, network: 7, codes: 2 };
const BLOCKED: Counts = { pair: 20, network: 20, codes: 0 };

const PUBLIC_URL = 'https://api.example.com';
const UNKNOWN_PASSKEY = new Authenticator(PUBLIC_URL).get({ challenge: 'wrong', rpId: 'api.example.com' });

const NOTHING = {};
const FAILURE = { pair: 4, network: 8 };
const WRONG_APP_CODE = { ...FAILURE, codes: 3 };
const CLEARS_PAIR = { pair: 0 };
const CLEARS_CODES = { codes: 0 };

/** A call with a body, the status, and what is other than before in the counts of the caller. */
type Row = readonly [call: string, body: object, status: number, changed: Partial<Counts>];

const NEW = { new_email: 'new@example.com', new_password: 'another password', name: 'A key', scope: 'read' };

/** Calls that check a password, the member that has it, and their status with the right one. */
const PASSWORD_CALLS: readonly (readonly [call: string, member: string, status: number])[] = [
  ['POST /auth/change-password/', 'old_password', 200],
  ['POST /auth/email/change/', 'password', 202],
  ['POST /auth/mfa/totp/', 'password', 200],
  ['POST /auth/passkeys/options/', 'password', 200],
  ['POST /auth/api-keys/', 'password', 201],
  ['POST /auth/social/github/link/', 'password', 200],
  ['DELETE /auth/identities/1/', 'password', 404],
  ['DELETE /auth/passkeys/1/', 'password', 404],
  ['DELETE /auth/me/', 'password', 204],
];
const withPassword = (password: string, status?: number): Row[] =>
  PASSWORD_CALLS.map(([call, member, right]) => [
    call,
    { ...NEW, [member]: password },
    status ?? right,
    password === PASSWORD ? CLEARS_PAIR : FAILURE,
  ]);

/** In a body, they are replaced by what the caller has. */
const [EMAIL, STEP_TOKEN, APP_CODE, RECOVERY_CODE] = ['EMAIL', 'STEP_TOKEN', 'APP_CODE', 'RECOVERY_CODE'];

const WITHOUT_FACTOR: readonly Row[] = [
  ...['POST /auth/login/', 'POST /auth/session/'].flatMap((call): Row[] => [
    [call, { email: EMAIL, password: 'wrong' }, 401, FAILURE],
    [call, { email: EMAIL, password: PASSWORD }, 200, CLEARS_PAIR],
    [call, { mfa_token: 'wrong', code: '000000' }, 401, NOTHING],
  ]),
  ...withPassword('wrong', 400),
  ...withPassword(PASSWORD),
  ['POST /auth/passkeys/login/', { response: UNKNOWN_PASSKEY }, 401, { network: 8 }],
  ['POST /auth/session/', { passkey: UNKNOWN_PASSKEY }, 401, { network: 8 }],
  ['POST /auth/mfa/totp/confirm/', { code: '000000' }, 400, NOTHING],
  ['POST /auth/refresh/', { refresh: 'wrong' }, 401, NOTHING],
  ['POST /auth/password/reset/', { email: EMAIL }, 202, NOTHING],
  ['POST /auth/password/reset/confirm/', { token: 'wrong', new_password: PASSWORD }, 400, NOTHING],
  ['POST /auth/email/verify/', { token: 'wrong', password: 'wrong' }, 400, NOTHING],
];

/** The rows of a call that checks a code, by the code. */
const withCodes = (
  call: string,
  body: object,
  wrong: number,
  right: number,
  clears: Partial<Counts>,
): Row[] => [
  [call, { ...body, code: '000000' }, wrong, WRONG_APP_CODE],
  [call, { ...body, code: 'no-such-code' }, wrong, FAILURE],
  [call, { ...body, code: APP_CODE }, right, { ...CLEARS_CODES, ...clears }],
  [call, { ...body, code: RECOVERY_CODE }, right, clears],
];

const WITH_FACTOR: readonly Row[] = [
  ...['POST /auth/login/', 'POST /auth/session/'].flatMap((call): Row[] => [
    [call, { email: EMAIL, password: 'wrong' }, 401, FAILURE],
    [call, { email: EMAIL, password: PASSWORD }, 200, NOTHING],
    ...withCodes(call, { mfa_token: STEP_TOKEN }, 401, 200, CLEARS_PAIR),
  ]),
  ...PASSWORD_CALLS.filter(([call]) => !/change-password|mfa.totp/.test(call)).flatMap(
    ([call, member, status]): Row[] => [
      [call, { ...NEW, [member]: 'wrong', code: APP_CODE }, 400, FAILURE],
      ...withCodes(call, { ...NEW, [member]: PASSWORD }, 400, status, NOTHING),
    ],
  ),
  ['POST /auth/change-password/', { ...NEW, old_password: 'wrong' }, 400, FAILURE],
  ['POST /auth/change-password/', { ...NEW, old_password: PASSWORD }, 200, NOTHING],
  ['POST /auth/mfa/recovery-codes/', { code: '000000' }, 400, WRONG_APP_CODE],
  ['POST /auth/mfa/recovery-codes/', { code: RECOVERY_CODE }, 400, FAILURE],
  ['POST /auth/mfa/recovery-codes/', { code: APP_CODE }, 200, CLEARS_CODES],
  ...withCodes('DELETE /auth/mfa/totp/', {}, 400, 204, NOTHING),
];

const servers = { ...MAILS, github: () => new GitHub() };
onEach('the counts of failed logins', { settings: { PUBLIC_URL }, servers }, ({ api }) => {
  /** Of accounts before and after that of the caller. */
  let others: [Ids, Ids];
  beforeAll(async () => {
    others = [await idsOf(await FactorOwner.register(api)), await idsOf(await FactorOwner.register(api))];
  });

  const counters = () => api.app.get(Counters, { strict: false });

  async function idsOf({ email }: FactorOwner): Promise<{ [Name in keyof Counts]: string }> {
    const { id } = await api.accounts.admin().find(email);
    return {
      pair: counterId('failures of', emailKey(email), ADDRESS),
      network: counterId('failures from', ADDRESS),
      codes: counterId('codes', id),
    };
  }
  type Ids = Awaited<ReturnType<typeof idsOf>>;

  async function set(ids: Ids, counts: Counts): Promise<void> {
    for (const name of ['pair', 'network', 'codes'] as const) {
      await counters().reset(ids[name]);
      for (let n = 0; n < counts[name]; n++) await counters().add([{ id: ids[name], period: HOUR }]);
    }
  }

  async function countsOf({ pair, network, codes }: Ids): Promise<Counts> {
    const found = await counters().find([pair, network, codes]);
    const of = (id: string) => found.find((each) => each.id === id)?.count ?? 0;
    return { pair: of(pair), network: of(network), codes: of(codes) };
  }

  /** @returns the counts of the caller and of the others afterwards */
  async function after(
    [call, body]: Row,
    { hasFactor = false, isActive = true, before = BEFORE } = {},
  ): Promise<{ reply: Reply; counts: Counts[] }> {
    const owner = await FactorOwner.register(api);
    const { secret, recovery } = hasFactor ? await owner.turnOn() : { secret: '', recovery: [] };
    const given: Record<string, string | undefined> = {
      [EMAIL]: owner.email,
      [RECOVERY_CODE]: recovery[0],
    };
    if (hasFactor)
      Object.assign(given, { [STEP_TOKEN]: await owner.begin(), [APP_CODE]: owner.codeOf(secret) });
    const payload = JSON.parse(JSON.stringify(body), (_, value) => given[value as string] ?? value) as object;

    if (!isActive) await api.accounts.admin().setActive(owner.email, false);
    const ids = [others[0], await idsOf(owner), others[1]];
    for (const each of ids) await set(each, before);
    const [method, url] = call.split(' ') as [string, string];
    const reply =
      method === 'POST'
        ? await api.post(url, payload, owner.headers)
        : await api.delete(url, owner.headers, payload);
    const counts = [];
    for (const each of ids) counts.push(await countsOf(each));
    return { reply, counts };
  }

  /** The others keep theirs; the address is that of all. */
  const expected = (changed: Partial<Counts>, before = BEFORE): Counts[] => {
    const other = { ...before, network: changed.network ?? before.network };
    return [other, { ...before, ...changed }, other];
  };

  it.each(WITHOUT_FACTOR)('%s with %j: %i, %j', async (...row) => {
    const { reply, counts } = await after(row);

    expect(reply).toHaveStatus(row[2]);
    expect(counts).toEqual(expected(row[3]));
  });

  it.each(WITH_FACTOR)('with a second factor, %s with %j: %i, %j', async (...row) => {
    const { reply, counts } = await after(row, { hasFactor: true });

    expect(reply).toHaveStatus(row[2]);
    expect(counts).toEqual(expected(row[3]));
  });

  it('of an inactive account, the right password counts as a wrong one', async () => {
    const row: Row = ['POST /auth/login/', { email: EMAIL, password: PASSWORD }, 401, FAILURE];
    const { reply, counts } = await after(row, { isActive: false });

    expect(reply).toHaveStatus(row[2]);
    expect(counts).toEqual(expected(row[3]));
  });

  it.each(WITHOUT_FACTOR.filter(([, , , changed]) => 'pair' in changed))(
    'at the limit, %s with %j is 429, and changes nothing',
    async (...row) => {
      const { reply, counts } = await after(row, { before: BLOCKED });

      expect(reply).toBeError('RATE_LIMITED');
      expect(counts).toEqual(expected(NOTHING, BLOCKED));
    },
  );
});
