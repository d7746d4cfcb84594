import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Account } from '../../src/accounts/account.entity.js';
import { AccountAdmin } from '../../src/accounts/account-admin.js';
import { PasswordChanges } from '../../src/accounts/password/password-changes.js';
import type { Reply, TestApi } from './api.js';

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

/** A session by cookie, as the headers of a request. */
export interface Session {
  /** What a browser sends automatically, even from the page of another site. */
  readonly cookie: { readonly cookie: string };
  /** Includes the CSRF token, which only pages of the service can read. */
  readonly headers: { readonly cookie: string; readonly 'x-csrf-token': string };
}

/** The default password of accounts in tests. */
export const PASSWORD = 'correct horse';

export function sessionOf({ headers, body }: Reply): Session {
  // If there are several cookies, the first is that of the session.
  const [cookie] = [headers['set-cookie']!].flat()[0]!.split(';') as [string];
  return { cookie: { cookie }, headers: { cookie, 'x-csrf-token': body.csrf_token } };
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Registers accounts, logs in, and does what an operator does. */
export class TestAccounts {
  constructor(private readonly api: TestApi) {}

  async register(email: string, fields: object = {}): Promise<any> {
    const body = { email, name: 'Ada', password: PASSWORD, ...fields };
    const reply = await this.api.post('/auth/register/', body);
    if (reply.status !== 201) throw new Error(`${email} was not registered: ${reply.text}`);
    return reply.body;
  }

  async login(email: string, password = PASSWORD): Promise<Tokens> {
    const reply = await this.api.post('/auth/login/', { email, password });
    if (reply.status !== 200) throw new Error(`${email} was not logged in: ${reply.text}`);
    return reply.body;
  }

  /** Registers an account. @returns the headers of its login */
  async logInNew(email: string): Promise<Record<string, string>> {
    await this.register(email);
    return bearer((await this.login(email)).access);
  }

  /** Registers a member of staff. @returns the headers of its login, whose token has the role of an admin */
  async logInNewStaff(email = 'staff@example.com'): Promise<Record<string, string>> {
    await this.register(email);
    await this.admin().setStaff(email, true);
    return bearer((await this.login(email)).access);
  }

  /** Registers a superuser. @returns the headers of its login */
  async logInNewSuperuser(email = 'root@example.com'): Promise<Record<string, string>> {
    await this.register(email);
    await this.makeSuperuser(email);
    return bearer((await this.login(email)).access);
  }

  /** Logs in as a browser does. */
  async session(email: string, password = PASSWORD): Promise<Session> {
    const reply = await this.api.post('/auth/session/', { email, password });
    if (reply.status !== 200) throw new Error(`${email} was not logged in: ${reply.text}`);
    return sessionOf(reply);
  }

  /** Every statement that reads the table fails then. */
  async removeTable(): Promise<void> {
    await this.api.rows.execute('ALTER TABLE accounts RENAME TO gone');
  }

  /** Sets a password, as the account command does. */
  async setPassword(email: string, password: string): Promise<void> {
    await this.api.app.get(PasswordChanges).set(await this.admin().get(email), password);
  }

  /** Makes an account a superuser, which only the account command can do. */
  async makeSuperuser(email: string): Promise<void> {
    const accounts = this.api.app.get<Repository<Account>>(getRepositoryToken(Account), { strict: false });
    await accounts.update({ email }, { isStaff: true, isSuperuser: true });
  }

  /** What the account command does. */
  admin() {
    const admin = this.api.app.get(AccountAdmin);
    const get = (email: string) => admin.get(email);
    return {
      get,
      setActive: async (email: string, isActive: boolean) => admin.setRights(await get(email), { isActive }),
      setStaff: async (email: string, isStaff: boolean) => admin.setRights(await get(email), { isStaff }),
      verifyEmail: async (email: string) => admin.verifyEmail(await get(email)),
      changeEmail: async (email: string, to: string) => admin.changeEmail(await get(email), to),
      delete: async (email: string) => admin.delete(await get(email)),
    };
  }
}
