import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { isDuplicate } from '../../database/failures.js';
import { Queries } from '../../database/queries.js';
import { Transactions } from '../../database/transactions.js';
import type { Account } from './account.entity.js';
import type { RegisterInput, UpdateAccountInput } from './account.input.js';
import { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
import { emailKey, normalizeEmail } from './email.js';
import { IncorrectPassword } from './incorrect-password.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { NO_PASSWORD, Passwords } from './passwords/passwords.js';

interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly phone: string;
  readonly passwordHash: string;
  readonly superuser: boolean;
  readonly emailVerified: boolean;
}

@Injectable()
export class AccountsService {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly clock: Clock,
  ) {}

  async findOne(id: number): Promise<Account | undefined> {
    const row = await this.queries.one<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = :id`, { id });
    return row && toAccount(row);
  }

  /** @param email in any letter case */
  async findByEmail(email: string): Promise<Account | undefined> {
    const row = await this.queries.one<AccountRow>(
      `SELECT ${ACCOUNT} FROM accounts WHERE email_key = :emailKey`,
      { emailKey: emailKey(email) },
    );
    return row && toAccount(row);
  }

  /**
   * @param superuser staff as well; never by what a client sends
   * @throws AppError `CONFLICT` when the e-mail is taken, `VALIDATION_ERROR` for a poor password
   */
  async register(input: RegisterInput, { superuser = false } = {}): Promise<Account> {
    const email = normalizeEmail(input.email)!;
    await this.policy.check('password', input.password, { email, name: input.name });
    const passwordHash = await this.passwords.hash(input.password);
    try {
      const { name, phone } = input;
      return await this.insert({
        email,
        name,
        phone: phone ?? '',
        passwordHash,
        superuser,
        emailVerified: false,
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', 'An account with this e-mail exists already', { cause: error });
    }
  }

  /**
   * An account of someone whose e-mail another has verified. No password is right for it.
   *
   * @param email normalized
   * @throws what {@link isDuplicate} knows, when the e-mail is taken
   */
  createWithoutPassword(email: string, name: string): Promise<Account> {
    const passwordHash = NO_PASSWORD;
    return this.insert({ email, name, phone: '', passwordHash, superuser: false, emailVerified: true });
  }

  async update(id: number, { name, phone }: UpdateAccountInput): Promise<Account> {
    const [row] = await this.transactions.execute<AccountRow>(
      `UPDATE accounts SET name = coalesce(:name, name), phone = coalesce(:phone, phone)
       WHERE id = :id RETURNING ${ACCOUNT}`,
      { id, name: name ?? null, phone: phone ?? null },
    );
    return toAccount(row!);
  }

  /**
   * Replaces the hash of the password.
   *
   * @param seen the account whose password was compared with the old one
   * @throws IncorrectPassword when another change was faster
   */
  async setPasswordHash(seen: Account, passwordHash: string): Promise<void> {
    const changed = await this.transactions.execute(
      `UPDATE accounts SET password_hash = :passwordHash,
         password_changed_at = ${this.queries.dialect.forward('password_changed_at', ':now')}
       WHERE id = :id AND password_changed_at = :seen RETURNING id`,
      {
        id: seen.id,
        passwordHash,
        seen: seen.passwordChangedAt.toISOString(),
        now: this.clock.now().toISOString(),
      },
    );
    if (changed.length === 0) throw new IncorrectPassword();
  }

  /** Keeps the hash up to date with the parameters of today; the password stays the same. */
  async renewHash({ id, passwordHash }: Account, password: string): Promise<void> {
    const renewed = await this.passwords.renew(password, passwordHash);
    if (renewed === undefined) return;
    await this.transactions.execute(
      'UPDATE accounts SET password_hash = :renewed WHERE id = :id AND password_hash = :passwordHash',
      { id, renewed, passwordHash },
    );
  }

  private async insert(account: NewAccount): Promise<Account> {
    const { email, name, phone, passwordHash, superuser, emailVerified } = account;
    const [row] = await this.transactions.execute<AccountRow>(
      `INSERT INTO accounts (email, email_key, name, phone, password_hash, password_changed_at,
         is_active, is_staff, is_superuser, is_email_verified, date_joined)
       VALUES (:email, :emailKey, :name, :phone, :passwordHash, :now, TRUE, :superuser, :superuser,
         :emailVerified, :now)
       RETURNING ${ACCOUNT}`,
      {
        email,
        emailKey: emailKey(email),
        name,
        phone,
        passwordHash,
        superuser: Number(superuser),
        emailVerified: Number(emailVerified),
        now: this.clock.now().toISOString(),
      },
    );
    return toAccount(row!);
  }
}
