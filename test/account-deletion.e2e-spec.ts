import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { NO_PASSWORD } from '../src/accounts/account.entity.js';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { PasswordLogins } from '../src/accounts/password/password-logins.js';
import { LoginCodes } from '../src/accounts/social/login-codes.js';
import { SocialAccounts } from '../src/accounts/social/social-accounts.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { turnOnFactor } from './support/second-factor.js';
import { statementsOf } from './support/statements.js';

const TABLES = {
  SQLite: `SELECT name FROM sqlite_master WHERE type = 'table'`,
  PostgreSQL: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
};

const REFERENCES = {
  SQLite: `SELECT m.name, f.on_delete IN ('SET NULL', 'CASCADE') AS follows FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
           WHERE m.type = 'table' AND f."table" = 'accounts'`,
  PostgreSQL: `SELECT conrelid::regclass::text AS name, confdeltype IN ('n', 'c') AS follows FROM pg_constraint
               WHERE contype = 'f' AND confrelid = 'accounts'::regclass`,
};

const OPTIONS = { modules: [FixtureModule], servers: MAILS };
onEach('the deletion of an account', OPTIONS, ({ api, mails, store }) => {
  const query = (sql: string): Promise<any[]> => api.rows.all(sql);
  const register = async (email: string, fields = {}) => {
    const { id } = await api.accounts.register(email, fields);
    const { access, refresh } = await api.accounts.login(email);
    return { id: id as number, refresh, headers: bearer(access) };
  };
  const remove = (headers: Record<string, string>, body?: unknown) => api.delete('/auth/me/', headers, body);
  /** An account that has only ever logged in through a provider. */
  const withoutPassword = async (email: string) => {
    const account = await register(email);
    await api.rows.execute('UPDATE accounts SET password_hash = :hash WHERE id = :id', {
      hash: NO_PASSWORD,
      id: account.id,
    });
    return account;
  };

  it('removes the personal data from every column of every table', async () => {
    const name = 'Ada Byron Lovelace of Ockham';
    mails.behaviour = 'rejects';
    const registration = {
      email: 'ada.byron@example.com',
      name,
      phone: '+44 1815 1210 1852',
      password: PASSWORD,
    };
    const key = { 'idempotency-key': 'registration' };
    const registered = await api.post('/auth/register/', registration, key);
    const { id } = registered.body;
    const { access, refresh } = await api.accounts.login('ada.byron@example.com');
    const headers = bearer(access);
    expect((await api.post('/auth/register/', registration, key)).body).toEqual(registered.body);
    await api.accounts.session('ada.byron@example.com');
    await api.post('/auth/login/', { email: 'ada.byron@example.com', password: 'wrong' });
    await api.rows.execute(
      `INSERT INTO social_identities (account_id, provider, subject, created_at)
       VALUES (:id, 'google', 'ada.byron', '2026-01-01T00:00:00.000Z')`,
      { id },
    );
    await api.rows.execute(
      `INSERT INTO one_time_secrets (id, purpose, account_id, expires_at) VALUES ('x', 'social-login', :id, '2030-01-01T00:00:00.000Z')`,
      { id },
    );
    await api.post('/auth/password/reset/', { email: 'ADA.byron@example.com' });
    await api.post(
      '/auth/email/change/',
      { new_email: 'ada.byron@elsewhere.example', password: PASSWORD },
      headers,
    );
    // Long enough not to appear in a random id by chance.
    const found = async () => {
      const rows: string[] = [];
      for (const { name: table } of await query(TABLES[store])) {
        for (const row of await query(`SELECT * FROM "${table}"`)) {
          const text = JSON.stringify(row).toLowerCase();
          if (['ada.byron', 'lovelace', '1815 1210'].some((word) => text.includes(word))) rows.push(table);
        }
      }
      return [...new Set(rows)].toSorted();
    };
    expect(await found()).toEqual(
      expect.arrayContaining(['accounts', 'idempotency_records', 'mails', 'social_identities']),
    );

    expect(await remove(headers, { password: PASSWORD })).toHaveStatus(204);

    expect(await found()).toEqual([]);
    expect(await api.get('/auth/me/', headers)).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
    mails.behaviour = 'accepts';
  });

  it('covers every table that refers to accounts', async () => {
    const { id, headers } = await register('tables@example.com');
    const references = await query(REFERENCES[store]);
    const tables = references.map(({ name }) => name as string);
    expect(tables).toEqual(
      expect.arrayContaining([
        'api_keys',
        'sessions',
        'one_time_secrets',
        'passkeys',
        'social_identities',
        'stubs',
        'totp_factors',
      ]),
    );
    const now = '2026-01-01T00:00:00.000Z';
    for (const [columns, values] of [
      [
        'api_keys (account_id, name, prefix, scope, key_hash, created_at)',
        `:id, 'A', 'psk_', 'read', 'x', :now`,
      ],
      [
        'one_time_secrets (id, purpose, account_id, password_changed_at, attempts, expires_at)',
        `'x', 'second-step', :id, :now, 0, :now`,
      ],
      [
        'passkeys (account_id, credential_id, public_key, counter, transports, name, created_at)',
        `:id, 'x', 'x', 0, '[]', 'A', :now`,
      ],
      ['one_time_secrets (id, purpose, account_id)', `'y', 'recovery-code', :id`],
      ['stubs (account_id, text, status, created_at)', `:id, '{}', 'created', :now`],
      ['totp_factors (account_id, secret, last_step, created_at)', `:id, 'x', 0, :now`],
    ] as const) {
      const insert = `INSERT INTO ${columns} VALUES (${values})`;
      await api.rows.execute(insert, { id, ...(values.includes(':now') && { now }) });
    }

    const statements = await statementsOf(async () => {
      expect(await remove(headers, { password: PASSWORD })).toHaveStatus(204);
    });
    // A table of another module, which has no row here, is deleted from, too, unless its foreign key follows.
    const isDeletedFrom = (name: string) =>
      statements.some((sql) => new RegExp(`DELETE FROM "?${name}"? `, 'i').test(sql));
    const kept = references.filter(({ name, follows }) => !follows && !isDeletedFrom(name as string));
    expect(kept).toEqual([]);
    for (const table of tables) {
      expect(await query(`SELECT * FROM ${table} WHERE account_id = ${id}`)).toEqual([]);
    }
  });

  it('removes the stored responses of the account, and leaves those of others', async () => {
    const own = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    const records = async () => {
      const sql = 'SELECT count(*) AS count FROM idempotency_records';
      const [{ count }] = await own.rows.all<any>(sql);
      return Number(count);
    };
    const logins = [];
    for (const email of ['one@example.com', 'two@example.com']) {
      const headers = await own.accounts.logInNew(email);
      await own.post('/v1/stubs', { email }, { ...headers, 'idempotency-key': 'k' });
      logins.push(headers);
    }
    expect(await records()).toBe(2);

    await own.delete('/auth/me/', logins[0], { password: PASSWORD });
    expect(await records()).toBe(1);
    const stub = { email: 'two@example.com' };
    const again = await own.post('/v1/stubs', stub, { ...logins[1], 'idempotency-key': 'k' });
    expect(again.headers['idempotent-replayed']).toBe('true');
    await own.stop();
  });

  it('keeps what others may refer to, without an owner', async () => {
    const own = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    const buyer = await own.accounts.logInNew('buyer@example.com');
    const staff = await own.accounts.logInNewStaff();
    await own.post('/v1/stubs', { item: 'Tea' }, { ...buyer, 'idempotency-key': 'k' });

    expect(await own.delete('/auth/me/', buyer, { password: PASSWORD })).toHaveStatus(204);

    expect((await own.get('/v1/stubs/1', staff)).body.data.text).toEqual({ item: 'Tea' });
    await own.stop();
  });

  it('frees the address for another account', async () => {
    const { id, headers } = await register('again@example.com');
    await remove(headers, { password: PASSWORD });

    expect((await register('again@example.com')).id).toBeGreaterThan(id);
  });

  it('requires the password, and keeps the account without it', async () => {
    const { headers } = await register('safe@example.com');

    const wrong = await remove(headers, { password: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    for (const body of [undefined, {}, { password: null }, { password: 5 }]) {
      expect(await remove(headers, body)).toBeError('VALIDATION_ERROR', ['password']);
    }
    expect(await api.get('/auth/me/', headers)).toHaveStatus(200);
  });

  it('requires a login at most five minutes old where the account has no password', async () => {
    const { headers } = await withoutPassword('social@example.com');

    api.moveClock(5 * 60_000 + 1000);
    expect(await remove(headers)).toBeError('FORBIDDEN');
    api.moveClock(5 * 60_000 - 5000);
    expect(await remove(headers)).toHaveStatus(204);
  });

  it('requires a code of the second factor, also where the account has no password', async () => {
    const { headers } = await withoutPassword('factor@example.com');
    const [code] = (await turnOnFactor(api, headers)).recovery_codes;

    expect(await remove(headers)).toBeError('VALIDATION_ERROR', ['code']);
    expect(await remove(headers, { code })).toHaveStatus(204);
  });

  it('requires the CSRF token of a session', async () => {
    await api.accounts.register('session@example.com');
    const session = await api.accounts.session('session@example.com');

    expect(await remove(session.cookie, { password: PASSWORD })).toBeError('CSRF_FAILED');
    expect(await remove(session.headers, { password: PASSWORD })).toHaveStatus(204);
  });

  it('leaves no login behind that starts or refreshes at the same time', async () => {
    const { headers, refresh } = await register('race@example.com');

    const [gone, ...others] = await Promise.all([
      remove(headers, { password: PASSWORD }),
      ...Array.from({ length: 10 }, () =>
        api.post('/auth/login/', { email: 'race@example.com', password: PASSWORD }),
      ),
      api.post('/auth/refresh/', { refresh }),
    ]);

    expect(gone).toHaveStatus(204);
    for (const { status } of others) expect([200, 401]).toContain(status);
    for (const { body } of others.filter(({ status }) => status === 200)) {
      expect(await api.post('/auth/refresh/', { refresh: body.refresh })).toBeError('TOKEN_NOT_VALID');
    }
  });

  it('causes no 5xx in concurrent changes and creations', async () => {
    const own = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    for (let round = 0; round < 5; round++) {
      const email = `busy${round}@example.com`;
      const headers = await own.accounts.logInNew(email);
      const gone = new AbortController();
      const removed = own.delete('/auth/me/', headers, { password: PASSWORD }).finally(() => gone.abort());
      const replies: Reply[] = [];
      while (!gone.signal.aborted) {
        const key = { 'idempotency-key': randomUUID() };
        replies.push(
          ...(await Promise.all([
            own.patch('/auth/me/', { name: 'Ada' }, headers),
            own.put('/auth/me/', {}, headers),
            own.post('/v1/stubs', {}, { ...headers, ...key }),
          ])),
        );
      }

      expect(await removed).toHaveStatus(204);
      for (const { status } of replies) expect([200, 201, 401]).toContain(status);
    }
    await own.stop();
  });

  it('leaves no identity without an account during a login by a provider', async () => {
    const social = api.app.get(SocialAccounts);
    for (let round = 0; round < 10; round++) {
      const email = `provider${round}@example.com`;
      await api.accounts.register(email);
      await api.accounts.admin().verifyEmail(email);
      const profile = { subject: email, email, emailVerified: true, name: 'Ada' };

      const [account] = await Promise.all([
        social.find('google', profile),
        api.accounts.admin().delete(email),
      ]);

      // The deleted account, or a new one.
      expect(account.email).toBe(email);
      await api.accounts
        .admin()
        .delete(email)
        .catch(() => undefined);
      const code = api.app.get(LoginCodes).issue(account);
      await expect(code).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });

  it('between the authentication of a request and its check of the password: 401', async () => {
    await register('between@example.com');
    const account = (await api.app.get(AccountsService).findForLogin('between@example.com'))!;
    await api.accounts.admin().delete('between@example.com');

    const check = api.app.get(PasswordLogins).confirm(account, PASSWORD, { address: '127.0.0.1', agent: '' });

    await expect(check).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it.each([
    ['with a password', register, { password: PASSWORD }],
    ['without one', withoutPassword, undefined],
  ])(
    'succeeds once of ten concurrent requests for an account %s, and the others are 401',
    async (_, make, body) => {
      for (let round = 0; round < 5; round++) {
        const { headers } = await make(`ten${round}@example.com`);

        const replies = await Promise.all(Array.from({ length: 10 }, () => remove(headers, body)));

        const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
        expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 401)]);
      }
    },
  );

  it('at the same time as a change of password: the change succeeds before it, or is 401', async () => {
    for (let round = 0; round < 5; round++) {
      const { headers } = await register(`changing${round}@example.com`);
      const passwords = { old_password: PASSWORD, new_password: 'another password' };

      const [removed, changed] = await Promise.all([
        remove(headers, { password: PASSWORD }),
        api.post('/auth/change-password/', passwords, headers),
      ]);

      // One of the two finds that the other was first.
      expect([
        [204, 401],
        [400, 200],
      ]).toContainEqual([removed.status, changed.status]);
    }
  });
});
