import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../common/clock/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { isDuplicate } from '../../database/failures.js';
import { Queries } from '../../database/queries.js';
import { Account } from './account.entity.js';
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
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly queries: Queries,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly clock: Clock,
  ) {}

  async findOne(id: number): Promise<Account | undefined> {
    const row = await this.queries.one<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = :id`, { id });
    return row && toAccount(row);
  }

  /** @param email in any letter case */
  findByEmail(email: string): Promise<Account | null> {
    return this.accounts.findOneBy({ emailKey: emailKey(email) });
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
    const changes = { ...(name != null && { name }), ...(phone != null && { phone }) };
    if (Object.keys(changes).length > 0) await this.accounts.update({ id }, changes);
    return this.accounts.findOneByOrFail({ id });
  }

  /**
   * Replaces the hash of the password.
   *
   * @param seen the account whose password was compared with the old one
   * @throws IncorrectPassword when another change was faster
   */
  async setPasswordHash({ id, passwordChangedAt }: Account, passwordHash: string): Promise<void> {
    const { affected } = await this.accounts.update(
      { id, passwordChangedAt },
      { passwordHash, passwordChangedAt: laterThan(passwordChangedAt, this.clock.now()) },
    );
    if (affected === 0) throw new IncorrectPassword();
  }

  /** Keeps the hash up to date with the parameters of today; the password stays the same. */
  async renewHash({ id, passwordHash }: Account, password: string): Promise<void> {
    const renewed = await this.passwords.renew(password, passwordHash);
    if (renewed !== undefined) await this.accounts.update({ id, passwordHash }, { passwordHash: renewed });
  }

  private async insert({ superuser, emailVerified, ...fields }: NewAccount): Promise<Account> {
    const now = this.clock.now();
    const account = this.accounts.create({
      ...fields,
      emailKey: emailKey(fields.email),
      passwordChangedAt: now,
      isActive: true,
      isStaff: superuser,
      isSuperuser: superuser,
      isEmailVerified: emailVerified,
      dateJoined: now,
    });
    await this.accounts.insert(account);
    return account;
  }
}

/** The present, or one millisecond past the moment where that is later. */
const laterThan = (moment: Date, now: Date): Date => new Date(Math.max(now.getTime(), moment.getTime() + 1));
