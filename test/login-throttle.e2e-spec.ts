import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LoginThrottle } from '../src/accounts/password/login-throttle.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { onEach } from './support/on-each.js';
import { reference } from './support/reference.js';
import { turnOnFactor } from './support/second-factor.js';
import { until } from './support/until.js';

const MINUTE = 60_000;
const LIMIT = 20;

onEach('failed logins', { settings: { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' } }, ({ api }) => {
  let email: string;
  let count = 0;

  async function register(): Promise<void> {
    email = `account${++count}@example.com`;
    await api.accounts.register(email);
  }

  const login = (password: string, { from = '203.0.113.1', as = email, on = api } = {}) =>
    on.post('/auth/login/', { email: as, password }, { 'x-forwarded-for': from });

  async function fail(times: number, options = {}): Promise<void> {
    const replies = await Promise.all(Array.from({ length: times }, () => login('wrong', options)));
    for (const reply of replies) expect(reply).toBeError('UNAUTHENTICATED');
  }

  it('return 429 after 20, even for the right password, until the window has passed', async () => {
    await register();
    await fail(LIMIT);

    for (const password of ['wrong', PASSWORD]) {
      const reply = await login(password);
      expect(reply).toBeError('RATE_LIMITED');
      const wait = Number(reply.headers['retry-after']);
      expect(wait).toBeGreaterThan(280);
      expect(wait).toBeLessThanOrEqual(300);
    }
    api.moveClock(4 * MINUTE);
    const later = await login(PASSWORD);
    expect(later).toBeError('RATE_LIMITED');
    expect(Number(later.headers['retry-after'])).toBeLessThanOrEqual(60);
    api.moveClock(5 * MINUTE);
    expect(await login(PASSWORD)).toHaveStatus(200);
  });

  it('count wherever a password is checked, and the responses match the OpenAPI document', async () => {
    await register();
    const headers = bearer((await api.accounts.login(email)).access);
    const places = [
      ['POST', '/auth/change-password/', { old_password: 'wrong', new_password: 'another password' }],
      ['POST', '/auth/email/change/', { password: 'wrong', new_email: 'other@example.com' }],
      ['DELETE', '/auth/me/', { password: 'wrong' }],
    ] as const;
    const send = ([method, url, body]: (typeof places)[number]) =>
      api.send({
        method,
        url,
        headers: { ...headers, 'content-type': 'application/json' },
        payload: JSON.stringify(body),
      });
    for (let n = 0; n < LIMIT; n++) {
      expect((await send(places[n % 3]!)).body).toEqual({ error: 'The current password is incorrect' });
    }

    for (const place of places) {
      const reply = await send(place);
      expect(reply).toBeError('RATE_LIMITED');
      const { responses } = reference.paths[place[1]][place[0].toLowerCase()];
      const examples = Object.values<any>(responses[429].content['application/json'].examples);
      expect(examples.map(({ value }) => value)).toContainEqual(reply.body);
    }
  });

  it('are reset by a success and by a new window', async () => {
    await register();
    await fail(LIMIT - 1);
    expect(await login(PASSWORD)).toHaveStatus(200);
    await fail(LIMIT - 2);
    // A window begins with the first failure, and a later one does not move its end.
    api.moveClock(4 * MINUTE);
    await fail(1);
    api.moveClock(5 * MINUTE);
    await fail(LIMIT - 1);
    expect(await login(PASSWORD)).toHaveStatus(200);
  });

  it('count in any letter case, and for accounts that do not exist', async () => {
    const unknown = `Nobody${++count}@Example.com`;
    await fail(LIMIT - 1, { as: unknown });
    await fail(1, { as: unknown.toUpperCase() });

    expect(await login('wrong', { as: ` ${unknown.toLowerCase()}` })).toBeError('RATE_LIMITED');
  });

  it('from one address do not lock out other addresses or other accounts', async () => {
    await register();
    await fail(LIMIT);

    expect(await login(PASSWORD, { from: '203.0.113.2' })).toHaveStatus(200);
    expect(await login(PASSWORD)).toBeError('RATE_LIMITED');
    await register();
    expect(await login(PASSWORD)).toHaveStatus(200);
  });

  it.each([
    ['an address with a port', (n: number) => `203.0.113.5:${4000 + n}`],
    ['an IPv6 address with a port', (n: number) => `[2001:db8::${n + 1}]:${4000 + n}`],
    ['an IPv4-mapped address', (n: number) => (n % 2 === 0 ? '::ffff:203.0.113.6' : '::FFFF:CB00:7106')],
    ['a second proxy with a port', (n: number) => `203.0.113.7, 10.0.0.5:${4000 + n}`],
    ['what is no address', (n: number) => `unknown-${n}`],
    ['what is no address, behind a second proxy', (n: number) => `_${n}, 10.0.0.6`],
    ['a forged address before what is none', (n: number) => `198.51.100.${n}, unknown, 10.0.0.7`],
  ])('count for one client behind a proxy that writes %s', async (_, from) => {
    await register();
    for (let n = 0; n < LIMIT; n++)
      expect(await login('wrong', { from: from(n) })).toBeError('UNAUTHENTICATED');
    expect(await login(PASSWORD, { from: from(LIMIT) })).toBeError('RATE_LIMITED');
    expect(await login(PASSWORD, { from: '192.0.2.99' })).toHaveStatus(200);
  });

  it('cannot be hidden behind forged X-Forwarded-For addresses', async () => {
    await register();
    // The proxy appends the address that it sees; the client can forge everything before that.
    for (let n = 0; n < LIMIT; n++) {
      expect(await login('wrong', { from: `198.51.100.${n}, 203.0.113.1` })).toBeError('UNAUTHENTICATED');
    }

    expect(await login(PASSWORD, { from: '198.51.100.99, 203.0.113.1' })).toBeError('RATE_LIMITED');
    expect(await login(PASSWORD, { from: '203.0.113.1, 10.1.2.3' })).toBeError('RATE_LIMITED');
  });

  it('are limited in parallel as in sequence, and survive a restart', async () => {
    await register();

    const replies = await Promise.all(Array.from({ length: 30 }, () => login('wrong')));

    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    await api.restart();
    expect(await login(PASSWORD)).toBeError('RATE_LIMITED');
  });

  it('return 429 after 300 from one address, over all accounts', async () => {
    await register();
    const throttle = api.app.get(LoginThrottle, { strict: false });
    const address = '203.0.113.77';
    for (let n = 0; n < 298; n++) await throttle.count({ emailKey: `someone${n}@example.com`, address });
    // A successful login does not count.
    expect(await login(PASSWORD, { from: address })).toHaveStatus(200);
    await fail(2, { from: address });

    const rejected = await login(PASSWORD, { from: address });
    expect(rejected).toBeError('RATE_LIMITED');
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(200);
    expect(await login(PASSWORD, { from: '203.0.113.78' })).toHaveStatus(200);
    api.moveClock(5 * MINUTE);
    expect(await login(PASSWORD, { from: address })).toHaveStatus(200);
  });

  it('stay counted for their address when other accounts complete a login there', async () => {
    await register();
    const headers = bearer((await api.accounts.login(email)).access);
    const { recovery_codes } = await turnOnFactor(api, headers);
    const throttle = api.app.get(LoginThrottle, { strict: false });
    const address = '203.0.113.79';
    for (let n = 0; n < 298; n++) await throttle.count({ emailKey: `other${n}@example.com`, address });

    for (const each of recovery_codes.slice(0, 3)) {
      const { mfa_token } = (await login(PASSWORD, { from: address })).body;
      const body = { mfa_token, code: each };
      expect(await api.post('/auth/login/', body, { 'x-forwarded-for': address })).toHaveStatus(200);
    }

    await fail(2, { from: address, as: 'nobody@example.com' });
    expect(await login(PASSWORD, { from: address })).toBeError('RATE_LIMITED');
  });

  it('count for the /64 of an IPv6 address', async () => {
    await register();
    for (let n = 1; n <= LIMIT; n++) {
      expect(await login('wrong', { from: `2001:db8:1:2::${n}` })).toBeError('UNAUTHENTICATED');
    }

    expect(await login(PASSWORD, { from: '2001:db8:1:2:ffff::1' })).toBeError('RATE_LIMITED');
    expect(await login(PASSWORD, { from: '2001:db8:1:3::1' })).toHaveStatus(200);
  });

  it('do not include concurrent successful logins', async () => {
    await register();

    const replies = await Promise.all(Array.from({ length: 25 }, () => login(PASSWORD)));

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

onEach('failed logins without TRUST_PROXY', {}, ({ api }) => {
  it('count for the address of the connection, and ignore X-Forwarded-For', async () => {
    await api.accounts.register('ada@example.com');
    const login = (n: number) =>
      api.post(
        '/auth/login/',
        { email: 'ada@example.com', password: n < LIMIT ? 'wrong' : PASSWORD },
        {
          'x-forwarded-for': `203.0.113.${n}`,
          'x-real-ip': `203.0.113.${n}`,
          forwarded: `for=203.0.113.${n}`,
        },
      );

    for (let n = 0; n < LIMIT; n++) expect(await login(n)).toBeError('UNAUTHENTICATED');

    expect(await login(LIMIT)).toBeError('RATE_LIMITED');
  });
});

describe('failed logins on PostgreSQL', () => {
  it('are counted together by all replicas', async () => {
    const api = await startApi('PostgreSQL');
    const replica = await api.replica();
    await api.accounts.register('ada@example.com');
    const login = (on: TestApi, password: string) =>
      on.post('/auth/login/', { email: 'ada@example.com', password });

    for (let n = 0; n < LIMIT; n++) {
      expect(await login(n % 2 === 0 ? api : replica, 'wrong')).toBeError('UNAUTHENTICATED');
    }

    expect(await login(api, PASSWORD)).toBeError('RATE_LIMITED');
    expect(await login(replica, PASSWORD)).toBeError('RATE_LIMITED');
    await replica.stop();
    await api.stop();
  });

  it('and right passwords are counted concurrently, without deadlocks', async () => {
    const api = await startApi('PostgreSQL');
    const throttle = api.app.get(LoginThrottle, { strict: false });
    const source = api.app.get(DataSource);
    const ids = async () => (await source.query('SELECT id FROM counters')).map(({ id }: any) => id);
    const waiting = async () => {
      const [{ count }] = await source.query(
        `SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return Number(count);
    };
    const address = '203.0.113.200';
    await throttle.count({ emailKey: 'first@example.com', address });

    for (let n = 0; n < 6; n++) {
      const attempt = { emailKey: `concurrent${n}@example.com`, address };
      const known = new Set(await ids());
      const before = await throttle.count(attempt);
      const pair = (await ids()).find((id: string) => !known.has(id));
      const other = source.createQueryRunner();
      await other.startTransaction();
      await other.query('SELECT 1 FROM counters WHERE id = $1 FOR UPDATE', [pair]);
      const counted = throttle.count(attempt);
      await until('the failure waits', async () => (await waiting()) === 1);
      const uncounted = throttle.succeed(before, { clearsPair: false });
      await until('the success waits', async () => (await waiting()) === 2);
      await other.commitTransaction();
      await other.release();

      await expect(Promise.all([counted, uncounted])).resolves.toBeDefined();
    }
    await api.stop();
  });
});
