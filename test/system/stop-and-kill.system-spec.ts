import { describe, expect, it } from '@jest/globals';
import { MailSender } from '../../src/platform/mail/index.js';
import { PASSWORD } from '../support/accounts.js';
import { startApiOn } from '../support/api.js';
import { freePort } from '../support/free-port.js';
import { EMAIL, type FatalWrite, killAtCommit, type Killed } from '../support/kill-at-commit.js';
import { linkIn, MailServer } from '../support/mail-server.js';
import { Service } from '../support/service.js';
import { ANY_STORE, createStore, STORES } from '../support/stores.js';
import { until } from '../support/until.js';

interface Write extends FatalWrite {
  /** Passes when the process that follows has what belongs to the write. */
  readonly check: (killed: Killed) => Promise<unknown>;
}

const dummy = { path: '/v1/dummies', body: { text: 'Once' }, statement: 'INSERT INTO "?dummies' };

const WRITES: Readonly<Record<string, Write>> = {
  'its event': {
    ...dummy,
    check: ({ api }) =>
      until('the event is stored', async () => {
        const rows = await api.rows.all("SELECT 1 FROM events WHERE type = 'dummy.created' AND position > 0");
        return rows.length === 1;
      }),
  },
  'its audit entry': {
    ...dummy,
    check: async ({ api }) => {
      const { body } = await api.get('/v1/audit', await api.accounts.logInNewStaff('auditor@example.com'));
      expect(body.data.map(({ action }: any) => action)).toContain('POST /v1/dummies');
    },
  },
  'its mail': {
    path: '/auth/register/',
    body: { email: 'new@example.com', name: 'New', password: PASSWORD },
    statement: 'INSERT INTO "?accounts',
    check: ({ mails }) => mails.nextWith('new@example.com', 'Confirm your e-mail address'),
  },
  'its notice': {
    path: '/auth/change-password/',
    body: { old_password: PASSWORD, new_password: 'another password' },
    statement: 'UPDATE "?accounts',
    check: ({ mails }) => mails.nextWith(EMAIL, 'Your password was changed'),
  },
  'the record of its key': {
    ...dummy,
    check: async ({ api, headers }) => {
      const key = { ...headers, 'idempotency-key': 'k' };
      const reply = await api.post('/v1/dummies', dummy.body, key);
      expect(reply).toHaveStatus(201);
      expect(reply.headers['idempotent-replayed']).toBe('true');
      expect(reply.headers['location']).toBe('/v1/dummies/1');
      expect(reply.body).toMatchObject({ data: { id: 1, text: 'Once' } });
      expect(await api.dummies.count()).toBe(1);
    },
  },
};

describe.each(STORES)('a kill -9 just after the commit of a write on %s', (store) => {
  it.each(Object.entries(WRITES))('does not lose %s', async (_, { check, ...write }) => {
    const checked = killAtCommit(store, write, async () => undefined, check);
    await expect(checked).resolves.toBeUndefined();
  });
});

describe('the stop of a process', () => {
  it('is not delayed by a mail server that hangs, and no mail is lost', async () => {
    const server = await new MailServer().start();
    const { environment, ...testStore } = await createStore(ANY_STORE);
    const settings = { ...environment, ...server.settings, PORT: String(await freePort()) };
    server.behaviour = 'hangs';
    const service = await Service.start(settings);
    await service.fetch('/auth/register/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'stop@example.com', name: 'Ada', password: PASSWORD }),
    });
    await until('the server was contacted', () => server.attempts.length > 0);
    expect((await service.end()).code).toBe(0);

    server.behaviour = 'accepts';
    const api = await startApiOn({ ...server.settings, ...environment });
    api.moveClock(3600_000);
    await api.app.get(MailSender).poll();
    expect(linkIn(await server.next('stop@example.com'))).toContain('#action=verify-email');
    await api.stop();
    await testStore.remove();
    await server.stop();
  });
});
