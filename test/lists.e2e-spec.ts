import { beforeAll, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AccountSearch } from '../src/accounts/account-search.js';
import { Passkey } from '../src/accounts/passkey/passkey.entity.js';
import { SocialIdentity } from '../src/accounts/social/social-identity.entity.js';
import { MailQueue, MailSender } from '../src/platform/mail/index.js';
import { OutboxMail } from '../src/platform/mail/outbox-mail.entity.js';
import { created } from './support/api.js';
import { onEach } from './support/on-each.js';
import { isOrdered, shuffle } from './support/shuffle.js';

const ROWS = 8;
const TABLES = 'accounts audit_entries sessions api_keys passkeys social_identities'.split(' ');

onEach('lists, whatever the order of their rows on disk,', {}, ({ api }) => {
  let staff: Record<string, string>;
  let ada: Record<string, string>;

  beforeAll(async () => {
    staff = await api.accounts.logInNewStaff();
    const owners = [];
    for (const name of ['ada', 'bob']) {
      const headers = await api.accounts.logInNew(`${name}@example.com`);
      owners.push({ headers, accountId: (await api.accounts.admin().get(`${name}@example.com`)).id });
    }
    ada = owners[0]!.headers;
    for (let n = 0; n < ROWS; n++) {
      // In another order than the ids.
      const label = (n * 3 + 1) % ROWS;
      await api.accounts.register(`account${label}@example.com`);
      await api.accounts.login('ada@example.com');
      for (const { headers, accountId } of owners) {
        created(await api.post('/auth/api-keys/', { name: `Key ${label}`, scope: 'read' }, headers));
        const row = { accountId, createdAt: new Date() };
        const credentialId = `${accountId}-${label}`;
        const device = { credentialId, publicKey: '', counter: 0, transports: '[]', name: `Device ${label}` };
        await repository(Passkey).save({ ...row, ...device });
        await repository(SocialIdentity).save({ ...row, provider: 'github', subject: credentialId });
      }
    }
    for (const table of TABLES) await shuffle(api, table);
  });

  const repository = <Row extends object>(entity: new () => Row) =>
    api.app.get<Repository<Row>>(getRepositoryToken(entity), { strict: false });

  it.each([
    ['/v1/audit?limit=100', 'descending'],
    ['/auth/accounts/?limit=100', 'descending'],
    ['/auth/accounts/?limit=100&q=EXAMPLE', 'descending'],
    ['/auth/api-keys/', 'ascending'],
    ['/auth/passkeys/', 'ascending'],
    ['/auth/identities/', 'ascending'],
  ] as const)('of %s have %s ids', async (path, order) => {
    const { data } = (await api.get(path, path.endsWith('/') ? ada : staff)).body;

    expect(data.length).toBeGreaterThanOrEqual(ROWS);
    expect(isOrdered(data, order)).toBe(true);
  });

  it('of logins begin with the newest', async () => {
    const { data } = (await api.get('/auth/sessions/', ada)).body;
    const times = data.map(({ created_at }: { created_at: string }) => created_at);

    expect(times.length).toBeGreaterThan(ROWS);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('of an exported account are as those of its pages', async () => {
    const exported = (await api.get('/auth/me/export/', ada)).body;

    for (const list of ['api_keys', 'passkeys', 'identities']) {
      expect(exported[list]).toHaveLength(ROWS);
      expect([list, isOrdered(exported[list], 'ascending')]).toEqual([list, true]);
    }
    const { data: logins } = (await api.get('/auth/sessions/', ada)).body;
    expect(exported.logins).toEqual(logins.map(({ current: _current, ...login }: any) => login));
    expect(exported.audit.length).toBeGreaterThan(ROWS);
    expect(isOrdered(exported.audit, 'descending')).toBe(true);
  });

  it('of accounts for an operator begin with the oldest', async () => {
    const search = api.app.get(AccountSearch, { strict: false });
    const range = { limit: 100, offset: 0, direction: 'ASC' } as const;
    for (const filter of [{}, { q: 'EXAMPLE' }]) {
      const { accounts, total } = await search.search(filter, range);
      expect(accounts).toHaveLength(total);
      expect(isOrdered(accounts, 'ascending')).toBe(true);
    }
  });

  it('of waiting mails begin with the one that is due first', async () => {
    // It would claim some of them.
    await api.app.get(MailSender, { strict: false }).stop();
    await api.rows.execute('DELETE FROM mails');
    const due = [5, 2, 4, 1, 3].map((minutes) => new Date(Date.now() - minutes * 60_000));
    const mail = { kind: 'notice', owner: 'nobody', data: '{}', attempts: 0 };
    await repository(OutboxMail).save(
      due.map((nextAttemptAt, n) => ({ ...mail, id: `mail ${n}`, nextAttemptAt, createdAt: new Date() })),
    );
    await shuffle(api, 'mails');
    const claimed = [];
    for (let n = 0; n < due.length; n++)
      claimed.push(...(await api.app.get(MailQueue, { strict: false }).claim()));

    expect(claimed.map(({ id }) => id)).toEqual([0, 2, 4, 1, 3].map((n) => `mail ${n}`));
  });
});
