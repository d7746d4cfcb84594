import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError, ERRORS } from '../../platform/http/errors/errors.js';
import { isDuplicate } from '../../platform/database/failures.js';
import { Queries } from '../../platform/database/queries.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import { Account } from './account.entity.js';
import type { RegisterInput, UpdateAccountInput } from './account.input.js';
import { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
import { emailKey, normalizeEmail } from './email.js';
import { IncorrectPassword } from './incorrect-password.js';
import { NO_PASSWORD, Passwords } from './passwords/passwords.js';

interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly phone: string;
  readonly passwordHash: string;
  readonly superuser: boolean;
  readonly emailVerified: boolean;
  readonly verifyUntil?: Date | null;
}

interface RegisterOptions {
  /** The client's address. */
  readonly address?: string;
  /** Whether it is staff; no client can set it. */
  readonly superuser?: boolean;
  /** When the account is deleted unless its e-mail is verified before. */
  readonly verifyUntil?: Date | null;
  /** Runs in the same transaction. */
  readonly onCreated?: (account: Account) => Promise<void>;
}

const VERIFIED = { isEmailVerified: true, verifyUntil: null };

@Injectable()
export class AccountsService {
  private readonly whenVerified: ((accountId: number) => Promise<void>)[] = [];

  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly passwords: Passwords,
    private readonly clock: Clock,
  ) {}

  async findOne(id: number): Promise<Account | undefined> {
    const row = await this.queries.one<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = :id`, { id });
    return row && toAccount(row);
  }

  exists(id: number): Promise<boolean> {
    return this.accounts.existsBy({ id });
  }

  /** Reads and locks an account until the current unit of work ends. */
  async lock(id: number): Promise<Account | undefined> {
    const [row] = await this.transactions.execute<AccountRow>(
      `SELECT ${ACCOUNT} FROM accounts WHERE id = :id ${this.queries.dialect.lockRowsForUpdate}`,
      { id },
    );
    return row && toAccount(row);
  }

  /** @param email in any letter case */
  findByEmail(email: string): Promise<Account | null> {
    return this.accounts.findOneBy({ emailKey: emailKey(email) });
  }

  /**
   * @param input with a password that `PasswordPolicy` accepts, which costs too much to check twice
   * @throws AppError `CONFLICT` when the e-mail is taken
   */
  async register(
    input: RegisterInput,
    { address, superuser = false, verifyUntil = null, onCreated }: RegisterOptions = {},
  ): Promise<Account> {
    const email = normalizeEmail(input.email)!;
    const passwordHash = await this.passwords.hash(input.password, address);
    try {
      const { name, phone } = input;
      const emailVerified = false;
      const fields = { email, name, phone: phone ?? '', passwordHash, superuser, emailVerified, verifyUntil };
      return await this.transactions.run(async () => {
        const account = await this.insert(fields);
        await onCreated?.(account);
        return account;
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', 'An account with this e-mail already exists', { cause: error });
    }
  }

  /**
   * Creates an account whose e-mail a provider has verified. It has no password.
   *
   * @param email normalized
   * @throws an error for which {@link isDuplicate} is true, when the e-mail is taken
   */
  createWithoutPassword(email: string, name: string): Promise<Account> {
    const passwordHash = NO_PASSWORD;
    return this.insert({ email, name, phone: '', passwordHash, superuser: false, emailVerified: true });
  }

  /** @throws AppError `UNAUTHENTICATED` when the account was deleted after the request was authenticated */
  update(id: number, { name, phone }: UpdateAccountInput): Promise<Account> {
    const changes = { ...(name != null && { name }), ...(phone != null && { phone }) };
    return this.transactions.run(async () => {
      if (Object.keys(changes).length > 0) await this.accounts.update({ id }, changes);
      const account = await this.accounts.findOneBy({ id });
      if (!account) throw accountDeleted();
      await this.changes.record();
      return account;
    });
  }

  /**
   * Replaces the hash of the password.
   *
   * @param seen the account whose password was compared with the old one
   * @throws IncorrectPassword if the password was changed concurrently
   * @throws AppError `UNAUTHENTICATED` if the account was deleted concurrently
   */
  async setPasswordHash({ id, passwordChangedAt }: Account, passwordHash: string): Promise<void> {
    const { affected } = await this.accounts.update(
      { id, passwordChangedAt },
      { passwordHash, passwordChangedAt: laterThan(passwordChangedAt, this.clock.now()) },
    );
    if (affected === 0) throw (await this.exists(id)) ? new IncorrectPassword() : accountDeleted();
  }

  /**
   * Registers what has to happen when the address of an account is verified, and was not before, with the account locked:
   * what was added until then may be of somebody else than the owner of the address.
   */
  onVerified(work: (accountId: number) => Promise<void>): void {
    this.whenVerified.push(work);
  }

  /**
   * Records that the owner of the account owns its address.
   *
   * @param account locked
   */
  async markVerified({ id, isEmailVerified }: Account): Promise<void> {
    if (isEmailVerified) return;
    await this.accounts.update({ id }, VERIFIED);
    for (const work of this.whenVerified) await work(id);
  }

  /**
   * Changes the address, which counts as verified.
   *
   * @param account locked
   * @param email normalized
   * @throws an error for which {@link isDuplicate} is true, when the address is taken
   */
  async setEmail({ id }: Account, email: string): Promise<Account> {
    await this.accounts.update({ id }, { email, emailKey: emailKey(email), ...VERIFIED });
    for (const work of this.whenVerified) await work(id);
    return this.accounts.findOneByOrFail({ id });
  }

  /** Records whether a login needs a code as well. */
  async setSecondFactor(id: number, hasSecondFactor: boolean): Promise<void> {
    await this.accounts.update({ id }, { hasSecondFactor });
  }

  /** Stores a hash with the current parameters; the password stays the same. */
  async renewHash({ id, passwordHash }: Account, password: string): Promise<void> {
    const renewed = await this.passwords.renew(password, passwordHash);
    if (renewed !== undefined) await this.accounts.update({ id, passwordHash }, { passwordHash: renewed });
  }

  /** Rows that refer to the account must be deleted first. */
  async remove(id: number): Promise<void> {
    await this.accounts.delete({ id });
  }

  private async insert({
    superuser,
    emailVerified,
    verifyUntil = null,
    ...fields
  }: NewAccount): Promise<Account> {
    const now = this.clock.now();
    const account = this.accounts.create({
      ...fields,
      emailKey: emailKey(fields.email),
      passwordChangedAt: now,
      isActive: true,
      isStaff: superuser,
      isSuperuser: superuser,
      isEmailVerified: emailVerified,
      hasSecondFactor: false,
      verifyUntil,
      dateJoined: now,
    });
    await this.accounts.insert(account);
    await this.changes.record({ subject: `account ${account.id}`, actor: account.id });
    return account;
  }
}

export const REGISTRATION_CLOSED = 'Registration is closed; ask the operators of this service for an account';

/** For a caller whose account was deleted after the request was authenticated. */
export const accountDeleted = (): AppError => new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);

/** Now, or one millisecond past the given time where that is later. */
const laterThan = (moment: Date, now: Date): Date => new Date(Math.max(now.getTime(), moment.getTime() + 1));
