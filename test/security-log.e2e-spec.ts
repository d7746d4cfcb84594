import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SecurityEvents } from '../src/platform/http/security-events.js';
import { startApi } from './support/api.js';
import { runCommand } from './support/command.js';
import { totpCode } from './support/second-factor.js';
import { Service } from './support/service.js';
import { Google } from './support/social/google.js';
import { siteOf, Visitor } from './support/social/visitor.js';
import { createStore, STORES, type TestStore } from './support/stores.js';
import { until } from './support/until.js';

describe.each(STORES)('security events on %s', (store) => {
  let testStore: TestStore;
  let service: Service;
  const agent = 'test-agent/1.0';
  beforeAll(async () => {
    testStore = await createStore(store);
    const settings = {
      ...testStore.environment,
      LOG_LEVEL: 'info',
      METRICS_PORT: '0',
      WRITE_ACCESS: 'staff',
      REFRESH_REUSE: 'revoke',
      CORS_ORIGINS: 'https://app.example',
    };
    service = await Service.withFixture(settings);
  });
  afterAll(async () => {
    await service.end();
    await testStore.remove();
  });

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const reply = await service.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', 'user-agent': agent, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json = (await reply.json().catch(() => ({}))) as any;
    return {
      status: reply.status,
      body: json,
      id: reply.headers.get('x-request-id')!,
      headers: reply.headers,
    };
  }
  const events = () => service.log.filter((line: any) => line.msg === 'Security event') as any[];
  const untilEvent = async (id: string) => {
    await until('the event is logged', () => events().some(({ requestId }) => requestId === id));
    return events().filter(({ requestId }) => requestId === id);
  };
  /** The line at the end of a request: handlers and interceptors may log others before. */
  const requestLine = async (id: string) => {
    const find = () => service.log.find((line) => line['requestId'] === id && 'status' in line);
    await until('the request is logged', () => find() !== undefined);
    return find();
  };

  it('have the event, the client and the account, and never a password, token, code or address', async () => {
    const account = { email: 'ada@private.example', name: 'Ada', password: 'first programmer' };
    const { body } = await send('POST', '/auth/register/', account);
    const tokens = (await send('POST', '/auth/login/', account)).body;
    const bearer = { authorization: `Bearer ${tokens.access}` };
    const session = await send('POST', '/auth/session/', account);
    const cookie = { cookie: session.headers.get('set-cookie')!.split(';')[0]! };
    const login = (email: string, password: string) => send('POST', '/auth/login/', { email, password });
    const { key } = (await send('POST', '/auth/api-keys/', { name: 'A', scope: 'read' }, bearer)).body.data;
    const cases: (readonly [string, Promise<{ id: string }>, object])[] = [];
    const add = async (event: string, sent: Promise<{ id: string }>, fields: object = {}) => {
      await sent;
      cases.push([event, sent, fields]);
    };
    await add('login_failed', login('ada@private.example', 'wrong-hunter2'), {
      accountId: body.id,
      reason: 'wrong password',
    });
    await add('login_failed', login('nobody@private.example', 'wrong-hunter2'), {
      reason: 'unknown account',
      emailHash: expect.stringMatching(/^[\w-]{43}$/),
    });
    await add('access_denied', send('GET', '/v1/audit', undefined, bearer), { accountId: body.id });
    await add('csrf_failed', send('PATCH', '/auth/me/', { name: 'A' }, cookie), { accountId: body.id });
    await add('reset_requested', send('POST', '/auth/password/reset/', { email: 'ada@private.example' }), {
      emailHash: expect.any(String),
    });
    await add('api_key_created', send('POST', '/auth/api-keys/', { name: 'B', scope: 'read' }, bearer), {
      accountId: body.id,
    });
    await add(
      'api_key_refused',
      send('GET', '/v1/audit', undefined, { authorization: 'Bearer psk_bad-hunter2' }),
    );
    const read = { authorization: `Bearer ${key}` };
    await add('api_key_refused', send('POST', '/v1/dummies', {}, read), { accountId: body.id });
    await add('code_failed', send('POST', '/auth/mfa/totp/confirm/', { code: '000000' }, bearer), {
      accountId: body.id,
    });
    const { secret } = (await send('POST', '/auth/mfa/totp/', {}, bearer)).body;
    const code = totpCode(secret);
    await add('factor_changed', send('POST', '/auth/mfa/totp/confirm/', { code }, bearer), {
      accountId: body.id,
      reason: 'TOTP on',
    });
    const mine = (await send('GET', '/auth/api-keys/', undefined, bearer)).body.data;
    await add('api_key_removed', send('DELETE', `/auth/api-keys/${mine[0].id}/`, undefined, bearer), {
      accountId: body.id,
    });
    const change = { old_password: account.password, new_password: 'second programmer' };
    await add('password_changed', send('POST', '/auth/change-password/', change, bearer), {
      accountId: body.id,
    });
    await send('POST', '/auth/refresh/', { refresh: tokens.refresh });
    await add('refresh_reused', send('POST', '/auth/refresh/', { refresh: tokens.refresh }), {
      accountId: body.id,
    });

    for (const [event, sent, fields] of cases) {
      const { id } = await sent;
      const [entry] = await untilEvent(id);
      expect(entry).toMatchObject({ event, address: '127.0.0.1', agent, requestId: id, ...fields });
    }
    for (let n = 0; n < 20; n++) await login('ada@private.example', 'wrong-hunter2');
    const throttled = await login('ada@private.example', 'wrong-hunter2');
    expect((await untilEvent(throttled.id)).map(({ event }) => event)).toContain('login_throttled');

    const text = JSON.stringify(service.log);
    const secrets = [
      'hunter2',
      'first programmer',
      'second programmer',
      'private.example',
      '000000',
      key,
      tokens.access,
      secret,
    ];
    for (const each of secrets) expect(text).not.toContain(each);
  });

  it('do not include what is refused for another reason than a missing right', async () => {
    const old = await createStore(store);
    const closed = await Service.start({
      ...old.environment,
      LOG_LEVEL: 'info',
      REGISTRATION: 'closed',
      REQUIRE_VERIFIED_EMAIL: 'on',
    });
    const email = 'grace@private.example';
    const environment = old.environment;
    const parameters = ['create', '--email', email, '--name', 'Grace'];
    const input = 'first programmer\n';
    expect(await runCommand('account', parameters, { environment, input })).toMatchObject({ code: 0 });
    const call = (path: string, body: object) =>
      closed.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const credentials = { email, password: 'first programmer' };
    expect((await call('/auth/register/', { ...credentials, name: 'A' })).status).toBe(403);
    expect((await call('/auth/login/', credentials)).status).toBe(403);
    expect((await call('/auth/login/', { email, password: 'x' })).status).toBe(401);
    await until('the last event is logged', () => closed.log.some(({ event }) => event === 'login_failed'));
    expect(closed.log.filter(({ event }) => event === 'access_denied')).toEqual([]);
    await closed.end();
    await old.remove();
  });

  it('do not include an old login, but the lack of a right', async () => {
    const api = await startApi(store);
    await api.accounts.register('old@private.example');
    const { access } = await api.accounts.login('old@private.example');
    const headers = { authorization: `Bearer ${access}` };
    const recorded = jest.spyOn(SecurityEvents.prototype, 'record');
    api.moveClock(6 * 60_000);
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');
    expect(await api.post('/auth/passkeys/options/', {}, headers)).toBeError('FORBIDDEN');
    expect(recorded.mock.calls).toEqual([]);
    expect(await api.getOnly('/v1/audit', headers)).toBeError('FORBIDDEN');
    expect(recorded.mock.calls.map(([event]) => event)).toEqual(['access_denied']);
    await api.stop();
  });

  it('contain no raw control characters of a client', async () => {
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const body = JSON.stringify({ email: 'nobody@private.example', password: 'wrong-hunter2' });
    socket.write(
      Buffer.from(
        `POST /auth/login/ HTTP/1.1\r\nHost: x\r\nUser-Agent: \x9b31mred\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
        'latin1',
      ),
    );
    await once(socket, 'data');
    await until('it is logged', () => service.log.some((line) => line['agent']?.includes('31mred')));
    expect(service.log.find((line) => line['agent']?.includes('31mred'))!['agent']).toMatch(/^\u009b31mred/);
    expect(service.output).toContain('\\u009b31mred');
    expect(/[\u007f-\u009f]/.test(service.output)).toBe(false);
    socket.destroy();
  });

  it('include the logins of inactive accounts, by a provider and by a password', async () => {
    const ownStore = await createStore(store);
    const publicUrl = 'https://api.example.com';
    const google = await new Google(`${publicUrl}/auth/social/google/callback/`).start();
    google.addPerson('grace', { email: 'grace@private.example', name: 'Grace' });
    const environment = { ...ownStore.environment, ...google.settings, PUBLIC_URL: publicUrl };
    const own = await Service.start({ ...environment, LOG_LEVEL: 'info' });
    const visitor = new Visitor(siteOf(own, publicUrl));
    expect(await visitor.logIn('google', 'grace')).toHaveStatus(200);
    const account = { email: 'ida@private.example', name: 'Ida', password: 'first programmer' };
    const post = (path: string) =>
      own.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(account),
      });
    expect((await post('/auth/register/')).status).toBe(201);
    for (const email of ['grace@private.example', account.email]) {
      const command = await runCommand('account', ['deactivate', email], {
        environment: ownStore.environment,
      });
      expect(command).toMatchObject({ code: 0 });
    }

    expect(await visitor.logIn('google', 'grace')).toHaveStatus(401);
    expect((await post('/auth/login/')).status).toBe(401);

    const logged = { msg: 'Security event', event: 'login_failed', reason: 'inactive' };
    const found = () => own.log.filter((line: any) => line.reason === 'inactive');
    await until('both are logged', () => found().length === 2);
    for (const line of found()) expect(line).toMatchObject(logged);
    await own.end();
    await google.stop();
    await ownStore.remove();
  });

  it('have request lines with path, client and account', async () => {
    const { status, id } = await send('GET', '/v1/dummies/999?token=hunter2');
    expect(status).toBe(404);
    expect(await requestLine(id)).toMatchObject({
      method: 'GET',
      route: '/v1/dummies/:id',
      path: '/v1/dummies/999',
      status: 404,
      milliseconds: expect.any(Number),
      address: '127.0.0.1',
    });
    const account = { email: 'bob@private.example', name: 'Bob', password: 'second programmer' };
    const { body } = await send('POST', '/auth/register/', account);
    const { access } = (await send('POST', '/auth/login/', account)).body;
    const me = await send('GET', '/auth/me/', undefined, { authorization: `Bearer ${access}` });
    expect(await requestLine(me.id)).toMatchObject({ accountId: body.id });
  });
});
