import { beforeAll, expect, it } from '@jest/globals';
import { emailKey } from '../src/accounts/email-address.js';
import { counterId, Counters } from '../src/accounts/counters.js';
import { PASSWORD } from './support/accounts.js';
import { created, type Reply } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { operations, reference } from './support/reference.js';
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
/** Beyond each limit, and below the other two. */
const BLOCKED: readonly (readonly [limit: string, Counts])[] = [
  ['the account from the address', { pair: 20, network: 20, codes: 2 }],
  ['the address', { pair: 3, network: 300, codes: 2 }],
];
const CODES_USED_UP: Counts = { pair: 3, network: 20, codes: 10 };

const PUBLIC_URL = 'https://api.example.com';
const UNKNOWN_PASSKEY = new Authenticator(PUBLIC_URL).get({ challenge: 'wrong', rpId: 'api.example.com' });

/** The members of bodies that carry one. */
const SECRETS = new Set(['password', 'old_password', 'code', 'token', 'refresh', 'response', 'passkey']);

const NOTHING = {};
const FAILURE = { pair: 4, network: 8 };
const WRONG_APP_CODE = { ...FAILURE, codes: 3 };
const CLEARS_PAIR = { pair: 0 };
const CLEARS_CODES = { codes: 0 };

/** A call with a body, the status, and what is other than before in the counts of the caller. */
type Row = readonly [call: string, body: object, status: number, changed: Partial<Counts>];

const NEW = {
  new_email: 'new@example.com',
  new_password: 'another password',
  name: 'A key',
  scope: 'read',
  is_staff: true,
};

/** Calls that check a password, the member that has it, and their status with the right one. */
const PASSWORD_CALLS: readonly (readonly [call: string, member: string, status: number])[] = [
  ['POST /auth/change-password/', 'old_password', 200],
  ['POST /auth/email/change/', 'password', 202],
  ['POST /auth/mfa/totp/', 'password', 200],
  ['POST /auth/passkeys/options/', 'password', 200],
  ['POST /auth/api-keys/', 'password', 201],
  ['POST /auth/social/{provider}/link/', 'password', 200],
  ['DELETE /auth/identities/{id}/', 'password', 404],
  ['DELETE /auth/passkeys/{id}/', 'password', 404],
  ['DELETE /auth/me/', 'password', 204],
  ['PATCH /auth/accounts/{id}/', 'password', 200],
  ['POST /auth/accounts/{id}/reset-mfa/', 'password', 204],
];
const withPassword = (password: string, status?: number): Row[] =>
  PASSWORD_CALLS.map(([call, member, right]) => [
    call,
    { ...NEW, [member]: password },
    status ?? right,
    password === PASSWORD ? CLEARS_PAIR : FAILURE,
  ]);

/** In a body, they are replaced by what the caller has. */
const [EMAIL, MAIL_TOKEN, STEP_TOKEN, APP_CODE, RECOVERY_CODE, PASSKEY] = [
  'EMAIL',
  'MAIL_TOKEN',
  'STEP_TOKEN',
  'APP_CODE',
  'RECOVERY_CODE',
  'PASSKEY',
];

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
  ['POST /auth/passkeys/login/', { response: PASSKEY }, 200, NOTHING],
  ['POST /auth/session/', { passkey: PASSKEY }, 200, NOTHING],
  ['POST /auth/passkeys/', { response: UNKNOWN_PASSKEY }, 400, NOTHING],
  ['POST /auth/mfa/totp/confirm/', { code: '000000' }, 400, NOTHING],
  ['POST /auth/social/exchange/', { code: 'wrong', code_verifier: 'wrong' }, 400, NOTHING],
  ['POST /auth/session/', { social_code: 'wrong', code_verifier: 'wrong' }, 400, NOTHING],
  ['POST /auth/email/change/confirm/', { token: 'wrong' }, 400, NOTHING],
  ['POST /auth/verify/', { token: 'wrong' }, 401, NOTHING],
  ['POST /auth/logout/', { refresh: 'wrong' }, 401, NOTHING],
  ['POST /auth/register/', { email: EMAIL, name: 'Ada', password: 'wrong password' }, 409, NOTHING],
  ['POST /auth/refresh/', { refresh: 'wrong' }, 401, NOTHING],
  ['POST /auth/password/reset/', { email: EMAIL }, 202, NOTHING],
  ['POST /auth/password/reset/confirm/', { token: 'wrong', new_password: PASSWORD }, 400, NOTHING],
  ['POST /auth/email/resend/', { email: EMAIL, password: 'wrong' }, 401, FAILURE],
  ['POST /auth/email/resend/', { email: EMAIL, password: PASSWORD }, 409, CLEARS_PAIR],
  ['POST /auth/email/verify/', { token: 'wrong', password: 'wrong' }, 400, NOTHING],
  ['POST /auth/email/verify/', { token: MAIL_TOKEN, password: 'wrong' }, 400, FAILURE],
  ['POST /auth/email/verify/', { token: MAIL_TOKEN, password: PASSWORD }, 200, CLEARS_PAIR],
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
  ['POST /auth/mfa/recovery-codes/', { password: 'wrong', code: APP_CODE }, 400, FAILURE],
  ['DELETE /auth/mfa/totp/', { password: 'wrong', code: APP_CODE }, 400, FAILURE],
  ['POST /auth/passkeys/login/', { response: PASSKEY }, 200, NOTHING],
  ['POST /auth/session/', { passkey: PASSKEY }, 200, NOTHING],
  ['POST /auth/mfa/recovery-codes/', { code: '000000' }, 400, WRONG_APP_CODE],
  ['POST /auth/mfa/recovery-codes/', { code: RECOVERY_CODE }, 400, FAILURE],
  ['POST /auth/mfa/recovery-codes/', { code: APP_CODE }, 200, CLEARS_CODES],
  ...withCodes('DELETE /auth/mfa/totp/', {}, 400, 204, NOTHING),
];

const servers = { ...MAILS, github: () => new GitHub() };
onEach('the counts of failed logins', { settings: { PUBLIC_URL }, servers }, ({ api, mails }) => {
  /** Of accounts before and after that of the caller. */
  let others: [Ids, Ids];
  /** The id of the first of them. */
  let subject: number;
  beforeAll(async () => {
    const [first, second] = [await FactorOwner.register(api), await FactorOwner.register(api)];
    others = [await idsOf(first), await idsOf(second)];
    ({ id: subject } = await api.accounts.admin().get(first.email));
  });

  const counters = () => api.app.get(Counters, { strict: false });

  async function idsOf({ email }: FactorOwner): Promise<{ [Name in keyof Counts]: string }> {
    const { id } = await api.accounts.admin().get(email);
    return {
      pair: counterId('failures of', emailKey(email), ADDRESS),
      network: counterId('failures from', ADDRESS),
      codes: counterId('codes', id),
    };
  }
  type Ids = Awaited<ReturnType<typeof idsOf>>;

  async function set(ids: Ids, counts: Counts): Promise<void> {
    for (const name of ['pair', 'network', 'codes'] as const) {
      const id = ids[name];
      await counters().reset(id);
      if (counts[name] === 0) continue;
      await counters().add([{ id, period: HOUR }]);
      await api.rows.execute('UPDATE counters SET count = :count WHERE id = :id', {
        id,
        count: counts[name],
      });
    }
  }

  async function countsOf({ pair, network, codes }: Ids): Promise<Counts> {
    const found = await counters().find([pair, network, codes]);
    const of = (id: string) => found.find((each) => each.id === id)?.count ?? 0;
    return { pair: of(pair), network: of(network), codes: of(codes) };
  }

  /** Requests another confirmation of the address. */
  async function mailTokenOf({ email, headers }: FactorOwner): Promise<string> {
    await api.rows.execute('UPDATE accounts SET is_email_verified = FALSE WHERE email = :email', { email });
    await api.mailsSent('verify-email');
    for (const _ of mails.to(email)) await mails.next(email);
    api.advanceClock(60_000);
    await api.post('/auth/email/resend/', {}, headers);
    return tokenIn(await mails.nextWith(email, 'Confirm your e-mail address'));
  }

  /** Adds a passkey. @returns the response of its authenticator to the options of a login */
  async function passkeyOf({ headers }: FactorOwner) {
    const device = new Authenticator(PUBLIC_URL);
    const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
    created(await api.post('/auth/passkeys/', { response: device.create(options) }, headers));
    return device.get((await api.post('/auth/passkeys/login/options/', {})).body);
  }

  /** @returns the counts of the caller and of the others afterwards */
  async function after(
    [call, body]: Row,
    { hasFactor = false, isActive = true, before = BEFORE } = {},
  ): Promise<{ reply: Reply; counts: Counts[] }> {
    // Also those of the mails, whose limit all tests together would reach.
    await api.rows.execute('DELETE FROM counters');
    const owner = await FactorOwner.register(api);
    const { secret, recovery } = hasFactor ? await owner.turnOn() : { secret: '', recovery: [] };
    const given: Record<string, unknown> = { [EMAIL]: owner.email, [RECOVERY_CODE]: recovery[0] };
    if (hasFactor)
      Object.assign(given, { [STEP_TOKEN]: await owner.begin(), [APP_CODE]: owner.codeOf(secret) });
    const isUsed = (value: string) => Object.values(body).includes(value);
    if (isUsed(MAIL_TOKEN)) given[MAIL_TOKEN] = await mailTokenOf(owner);
    if (isUsed(PASSKEY)) given[PASSKEY] = await passkeyOf(owner);
    const payload = JSON.parse(JSON.stringify(body), (_, value) => given[value as string] ?? value) as object;
    if (call.includes('/auth/accounts/')) await api.accounts.makeSuperuser(owner.email);

    if (!isActive) await api.accounts.admin().setActive(owner.email, false);
    const ids = [others[0], await idsOf(owner), others[1]];
    for (const each of ids) await set(each, before);
    const [method, path] = call.split(' ') as ['POST' | 'PATCH' | 'DELETE', string];
    const url = path.replace('{provider}', 'github').replace('{id}', String(subject));
    // A call with the address is made by somebody who is not logged in, and so is the confirmation of a mail.
    const headers = isUsed(EMAIL) || isUsed(MAIL_TOKEN) ? {} : owner.headers;
    const reply = await api.send({ method, url, headers, payload });
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

  it.each(
    BLOCKED.flatMap(([limit, before]) =>
      WITHOUT_FACTOR.filter(([, , , changed]) => 'network' in changed || 'pair' in changed)
        // A passkey names no account.
        .filter(([, , , changed]) => 'pair' in changed || before.network === 300)
        .map(([call, body]) => [call, body, limit, before] as const),
    ),
  )('%s with %j is 429 at the limit of %s, and changes nothing', async (call, body, _, before) => {
    const { reply, counts } = await after([call, body, 429, NOTHING], { before });

    expect(reply).toBeError('RATE_LIMITED');
    expect(counts).toEqual(expected(NOTHING, before));
  });

  const isOfApp = ([, body]: Row) => 'code' in body && [APP_CODE, '000000'].includes(body.code as string);
  const CODES = WITH_FACTOR.filter(([, body]) => 'code' in body && !Object.values(body).includes('wrong'));

  it.each(CODES.filter(isOfApp))(
    'after ten wrong codes of the app, %s with %j is 429, and changes nothing',
    async (...row) => {
      const { reply, counts } = await after(row, { hasFactor: true, before: CODES_USED_UP });

      expect(reply).toBeError('RATE_LIMITED');
      expect(counts).toEqual(expected(NOTHING, CODES_USED_UP));
    },
  );

  it.each(CODES.filter((row) => !isOfApp(row)))(
    'after ten wrong codes of the app, %s with %j is %i as before',
    async (...row) => {
      const { reply, counts } = await after(row, { hasFactor: true, before: CODES_USED_UP });

      expect(reply).toHaveStatus(row[2]);
      const counted = 'network' in row[3] ? { network: CODES_USED_UP.network + 1 } : {};
      expect(counts).toEqual(expected({ ...row[3], ...counted }, CODES_USED_UP));
    },
  );

  it('each call that takes a password, a code, a token or a passkey is in one of the tables', () => {
    const calls = operations.flatMap(({ method, path, operation }) =>
      bodyMembers(operation).some((name) => SECRETS.has(name)) ? [`${method} ${path}`] : [],
    );
    const tried = [...WITHOUT_FACTOR, ...WITH_FACTOR].map(([call]) => call);

    expect(calls).not.toEqual([]);
    expect(tried).toEqual(expect.arrayContaining(calls));
  });
});

/** The names of the members of a request body. */
function bodyMembers(operation: any): string[] {
  const schema = operation.requestBody?.content['application/json'].schema;
  return schema === undefined ? [] : membersOf(schema);
}

const membersOf = ({ $ref, properties = {}, oneOf = [], anyOf = [], allOf = [] }: any): string[] => [
  ...($ref === undefined ? [] : membersOf(reference.components.schemas[$ref.split('/').at(-1)])),
  ...Object.keys(properties),
  ...[...oneOf, ...anyOf, ...allOf].flatMap(membersOf),
];
