import { beforeAll, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { CredentialWatch } from '../src/platform/access/index.js';
import { bearer } from './support/accounts.js';
import { startApi } from './support/api.js';
import { ENDS, newOwner } from './support/ends-of-logins.js';
import { EventClient } from './support/events-client.js';
import { FixtureModule } from './support/fixture.module.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { statementsOf } from './support/statements.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

const DAY = 24 * 3_600_000;
/** Longer than an access token is valid, in milliseconds. */
const LATER = 31 * 60_000;

const OPTIONS = {
  settings: { REFRESH_REUSE: 'revoke', WRITE_ACCESS: 'authenticated' },
  modules: [FixtureModule],
  servers: MAILS,
};
onEach('open connections whose credential ends', OPTIONS, ({ api, mails }) => {
  let url: string;
  let root: Record<string, string>;
  beforeAll(async () => {
    url = await api.listen();
    root = await api.accounts.logInNewSuperuser();
    for (const name of ['ada', 'bob', 'carl', 'dora', 'eve'])
      await api.accounts.register(`${name}@example.com`);
    await api.accounts.admin().setStaff('dora@example.com', true);
  });

  const login = async (name: string) => bearer((await api.accounts.login(`${name}@example.com`)).access);
  const follow = (headers: Record<string, string> = {}) =>
    EventClient.open(`${url}/v1/events/stream`, { headers });

  it('close a stream with the token, the session, the account or its rights, and leave others open', async () => {
    // A connection that cannot be closed must not keep others open.
    const failing = { headers: bearer('nonsense'), user: { id: 1 } } as unknown as FastifyRequest;
    api.app.get(CredentialWatch, { strict: false }).watch(failing, () => {
      throw new Error('It cannot be ended');
    });
    const ada = await login('ada');
    const [anonymous, ofAda] = [await follow(), await follow(ada)];
    api.moveClock(LATER);
    const session = await api.accounts.session('bob@example.com');
    const eve = await login('eve');
    const ofBob = await follow(session.cookie);
    const ofCarl = await follow(await login('carl'));
    const ofDora = await follow(await login('dora'));
    const ofEve = await follow(eve);

    expect(await api.delete('/auth/session/', session.headers)).toHaveStatus(204);
    await api.accounts.admin().setActive('carl@example.com', false);
    await api.accounts.admin().setStaff('dora@example.com', false);
    const ended = [ofAda, ofBob, ofCarl, ofDora];
    await until('four streams have ended', () => ended.every(({ isOver }) => isOver));

    await api.post('/v1/stubs', {}, { ...eve, 'idempotency-key': 'one' });
    await api.post('/v1/dummies', { text: 'A' }, eve);
    await ofEve.untilEvents(2);
    await anonymous.untilEvents(1);
    expect(ended.flatMap(({ events }) => events)).toEqual([]);
    expect(await api.get('/v1/events/stream', ada)).toBeError('TOKEN_NOT_VALID');
    for (const stream of [anonymous, ofEve]) stream.close();
  });

  const checkAll = () => api.app.get(CredentialWatch, { strict: false }).checkAll();

  it.each(ENDS)('close the streams of a login that ends by %s, which ends %s', async (_, ends, end) => {
    const owner = await newOwner(api, mails, root);
    const ofTokens = await follow(bearer(owner.tokens.access));
    const ofSession = await follow((await api.accounts.session(owner.email)).cookie);
    await end(owner);
    await checkAll();

    await until('the stream of the tokens has ended', () => ofTokens.isOver);
    if (ends === 'all logins') await until('the stream of the session has ended', () => ofSession.isOver);
    expect(ofSession.isOver).toBe(ends === 'all logins');
    ofSession.close();
  });

  it('close the stream of a login after 90 days, though its token is new', async () => {
    const { tokens } = await newOwner(api, mails, root);
    let { refresh } = tokens;
    let access = '';
    for (let day = 6; day < 96; day += 6) {
      api.moveClock(Math.min(day * DAY, 90 * DAY - 60_000));
      ({ access, refresh } = (await api.post('/auth/refresh/', { refresh })).body);
    }
    const stream = await follow(bearer(access));
    await checkAll();
    expect(stream.isOver).toBe(false);

    api.moveClock(90 * DAY + 1000);
    await checkAll();
    await until('the stream has ended', () => stream.isOver);
  });

  it('close the stream of an API key that expires', async () => {
    const { other } = await newOwner(api, mails, root);
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body } = await api.post(
      '/auth/api-keys/',
      { name: 'A', scope: 'read', expires_at },
      await other(),
    );
    const stream = await follow(bearer(body.data.key));
    await checkAll();
    expect(stream.isOver).toBe(false);

    api.moveClock(61_000);
    await checkAll();
    await until('the stream has ended', () => stream.isOver);
  });

  it('close the stream of a session whose time is over', async () => {
    const watch = api.app.get(CredentialWatch, { strict: false });
    const stream = await follow((await api.accounts.session('eve@example.com')).cookie);
    await watch.checkAll();
    expect(stream.isOver).toBe(false);

    // It has not reached its longest time, of 90 days, but was not used.
    api.moveClock(60 * DAY);
    await watch.checkAll();
    await until('the stream has ended', () => stream.isOver);
  });

  it('are checked with one statement for all logins, and one for all API keys', async () => {
    const watch = api.app.get(CredentialWatch, { strict: false });
    await watch.checkAll();
    const session = await api.accounts.session('eve@example.com');
    const key = async (name: string) => {
      const { body } = await api.post('/auth/api-keys/', { name, scope: 'read' }, session.headers);
      return { id: body.data.id as number, headers: bearer(body.data.key) };
    };
    const [kept, deleted] = [await key('kept'), await key('deleted')];
    const streams = await Promise.all(
      [
        await login('ada'),
        await login('bob'),
        await login('ada'),
        session.cookie,
        kept.headers,
        kept.headers,
      ].map(follow),
    );
    const ofDeleted = await follow(deleted.headers);

    const statements = await statementsOf(() => watch.checkAll());
    expect(statements).toHaveLength(2);
    expect(statements.join()).toMatch(/FROM sessions .* FROM api_keys |FROM api_keys .* FROM sessions /);
    expect(await api.delete(`/auth/api-keys/${deleted.id}/`, session.headers)).toHaveStatus(204);
    await watch.checkAll();
    await until('the stream of the deleted key has ended', () => ofDeleted.isOver);
    expect(streams.map(({ isOver }) => isOver)).toEqual(streams.map(() => false));
    for (const stream of streams) stream.close();
  });
});

it.each(STORES)('a stream ends with its login, where credentials are looked at, on %s', async (store) => {
  const api = await startApi(store, { WRITE_ACCESS: 'authenticated' });
  await api.listen();
  await api.accounts.register('ada@example.com');
  const { access, refresh } = await api.accounts.login('ada@example.com');
  const url = await api.app.getUrl();
  const stream = await EventClient.open(`${url}/v1/events/stream`, { headers: bearer(access) });
  expect(stream.isOver).toBe(false);
  expect(await api.post('/auth/logout/', { refresh })).toHaveStatus(200);
  await until('the stream has ended', () => stream.isOver);
  await api.stop();
});
