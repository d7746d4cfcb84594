import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Not, Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { caseFold } from '../platform/database/case-fold.js';
import { isDuplicate } from '../platform/database/failures.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import { AccountData, IncorrectPassword } from '../platform/access/index.js';
import { Account, NO_PASSWORD } from './account.entity.js';
import type { UpdateAccountInput } from './account.input.js';
import { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
import { emailKey } from './email-address.js';

interface NewAccount {
  /** Normalized. */
  readonly email: string;
  readonly name: string;
  readonly phone?: string | null | undefined;
  readonly passwordHash: string;
  /** Whether it is staff; no client can set it. */
  readonly superuser?: boolean;
  /** Whether a provider has verified the e-mail of whoever the account is for. */
  readonly ofVerifiedOwner?: boolean;
  /** When the account is deleted unless its e-mail is verified before. */
  readonly verifyUntil?: Date | null;
}

const VERIFIED = { isEmailVerified: true, verifyUntil: null };

@Injectable()
export class AccountsService {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly data: AccountData,
    private readonly clock: Clock,
  ) {}

  async find(id: number): Promise<Account | undefined> {
    return (await this.accounts.findOneBy({ id })) ?? undefined;
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

  /** With the hash of its password, in one statement: an unknown e-mail must not take less time. */
  findForLogin(email: string): Promise<Account | null> {
    return this.accounts
      .createQueryBuilder('account')
      .addSelect('account.passwordHash')
      .where({ emailKey: emailKey(email) })
      .getOne();
  }

  /** The hash of the password of an account; `undefined` if the password has changed since the account was read. */
  async passwordHashOf({ id, passwordChangedAt }: Account): Promise<string | undefined> {
    const where = { id, passwordChangedAt };
    const account = await this.accounts.findOne({ where, select: { id: true, passwordHash: true } });
    return account?.passwordHash;
  }

  /** The error for a password that does not fit the account, which may have been deleted since it was read. */
  async incorrectPassword(id: number): Promise<Error> {
    return (await this.exists(id)) ? new IncorrectPassword() : accountDeleted();
  }

  async hasPassword({ id }: Pick<Account, 'id'>): Promise<boolean> {
    return this.accounts.existsBy({ id, passwordHash: Not(NO_PASSWORD) });
  }

  /** @param onCreated runs in the same transaction */
  async create(
    fields: NewAccount,
    onCreated: (account: Account) => Promise<void> = async () => undefined,
  ): Promise<Account> {
    try {
      return await this.transactions.run(async () => {
        const account = await this.insert(fields);
        await onCreated(account);
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
    return this.insert({ email, name, passwordHash: NO_PASSWORD, ofVerifiedOwner: true });
  }

  update(id: number, { name, phone }: UpdateAccountInput): Promise<Account> {
    const changes = {
      ...(name != null && { name, nameFolded: caseFold(name) }),
      ...(phone != null && { phone }),
    };
    return this.transactions.run(async () => {
      if (Object.keys(changes).length > 0) await this.accounts.update({ id }, changes);
      const account = await this.accounts.findOneBy({ id });
      if (!account) throw accountDeleted();
      await this.changes.record();
      return account;
    });
  }

  /**
   * Replaces the password, and ends the logins of the account but one, and the tokens in mails.
   *
   * @param seen the account whose password was compared with the old one
   * @param exceptSession id of the login to keep
   */
  async setPassword(seen: Account, passwordHash: string, exceptSession?: string): Promise<void> {
    const { id, passwordChangedAt } = seen;
    const { affected } = await this.accounts.update(
      { id, passwordChangedAt },
      { passwordHash, passwordChangedAt: laterThan(passwordChangedAt, this.clock.now()) },
    );
    if (affected === 0) throw await this.incorrectPassword(id);
    await this.data.endSessions(seen, exceptSession);
    await this.data.credentialsChanged(seen);
  }

  /**
   * Replaces the password for the owner of the address, who may be another person than whoever has used the account.
   *
   * @param account locked
   */
  async resetPassword(account: Account, passwordHash: string): Promise<void> {
    await this.data.removeUnconfirmed(account);
    await this.setPassword(account, passwordHash);
    await this.markVerified(account, { byOwner: true });
    await this.data.revoke(account);
  }

  /**
   * Records that the owner of the address can read its mails. Whoever registered it may be somebody else: unless they are
   * known to be the same, all logins end, and a reset removes what is added to the account until then.
   *
   * @param account locked
   * @param byOwner whether the owner of the address is known to use the account, by its login or its password
   */
  async markVerified(account: Account, { byOwner }: { byOwner: boolean }): Promise<void> {
    if (!account.isEmailVerified) {
      await this.accounts.update({ id: account.id }, VERIFIED);
      if (!byOwner) await this.data.endSessions(account);
    }
    if (byOwner && !account.isOwnerConfirmed) await this.confirmOwner(account);
  }

  /**
   * Changes the address, which counts as verified, and ends the tokens in mails.
   *
   * @param account locked
   * @param email normalized
   * @param byOwner as for {@link markVerified}
   * @throws an error for which {@link isDuplicate} is true, when the address is taken
   */
  async setEmail(account: Account, email: string, { byOwner }: { byOwner: boolean }): Promise<Account> {
    const { id } = account;
    await this.data.credentialsChanged(account);
    const isOwnerConfirmed = byOwner && account.isOwnerConfirmed;
    await this.accounts.update({ id }, { email, emailKey: emailKey(email), ...VERIFIED, isOwnerConfirmed });
    if (byOwner && !isOwnerConfirmed) await this.confirmOwner(account);
    return this.accounts.findOneByOrFail({ id });
  }

  /** Sets whether an account may log in, and whether it is staff. */
  async setRights(id: number, rights: Partial<Pick<Account, 'isActive' | 'isStaff'>>): Promise<void> {
    await this.accounts.update({ id }, rights);
  }

  /**
   * Keeps an active superuser: of two who deactivate or delete each other or themselves at the same time, one stays. Call
   * it before the account is locked: all who lock several superusers do so in the same order, so they cannot deadlock.
   *
   * @param account that is about to be deactivated or deleted
   * @throws AppError `CONFLICT` for the last active superuser
   */
  async requireAnotherSuperuser({ id, isSuperuser }: Pick<Account, 'id' | 'isSuperuser'>): Promise<void> {
    if (!isSuperuser) return;
    const superusers = await this.transactions.execute<{ id: number; isActive: boolean | number }>(
      `SELECT id, is_active AS "isActive" FROM accounts WHERE is_superuser ORDER BY id ${this.queries.dialect.lockRowsForUpdate}`,
    );
    const active = superusers.filter(({ isActive }) => isActive);
    if (active.length === 1 && active[0]!.id === id) throw new AppError('CONFLICT', LAST_SUPERUSER);
  }

  /** Records whether a login needs a code as well. */
  async setSecondFactor(id: number, hasSecondFactor: boolean): Promise<void> {
    await this.accounts.update({ id }, { hasSecondFactor });
  }

  /** Stores another hash of the same password. */
  async replaceHash({ id }: Account, passwordHash: string, renewed: string): Promise<void> {
    await this.accounts.update({ id, passwordHash }, { passwordHash: renewed });
  }

  /**
   * Deletes an account and all personal data.
   *
   * @param seen the account that was authenticated
   */
  async remove(seen: Account): Promise<void> {
    await this.transactions.run(async (manager) => {
      // A concurrent login waits for this lock, and then finds no account.
      const account = await this.lock(seen.id);
      if (!account) throw accountDeleted();
      if (account.passwordChangedAt.getTime() !== seen.passwordChangedAt.getTime()) {
        throw new IncorrectPassword();
      }
      await this.data.erase(account, manager);
      await this.accounts.delete({ id: account.id });
    });
  }

  private async confirmOwner(account: Account): Promise<void> {
    await this.accounts.update({ id: account.id }, { isOwnerConfirmed: true });
    await this.data.ownerConfirmed(account);
  }

  private async insert({
    phone,
    superuser = false,
    ofVerifiedOwner = false,
    verifyUntil = null,
    ...fields
  }: NewAccount): Promise<Account> {
    const now = this.clock.now();
    const account = this.accounts.create({
      ...fields,
      phone: phone ?? '',
      emailKey: emailKey(fields.email),
      nameFolded: caseFold(fields.name),
      passwordChangedAt: now,
      isActive: true,
      isStaff: superuser,
      isSuperuser: superuser,
      isEmailVerified: ofVerifiedOwner,
      isOwnerConfirmed: ofVerifiedOwner,
      hasSecondFactor: false,
      verifyUntil,
      dateJoined: now,
      lastLoginAt: null,
    });
    await this.accounts.insert(account);
    await this.changes.record({ subject: `/auth/accounts/${account.id}`, actor: account.id });
    return account;
  }
}

export const LAST_SUPERUSER = 'The last active superuser must stay active';

export const REGISTRATION_CLOSED = 'Registration is closed; ask the operators of this service for an account';

/** For a caller whose account was deleted after the request was authenticated. */
export const accountDeleted = (): AppError => new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);

/** Now, or one millisecond past the given time where that is later. */
const laterThan = (moment: Date, now: Date): Date => new Date(Math.max(now.getTime(), moment.getTime() + 1));
