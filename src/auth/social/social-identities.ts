import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { NO_ROW, toId } from '../../platform/http/validation/id.js';
import { isDuplicate } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import {
  type Account,
  accountDeleted,
  AccountsService,
  EMAIL_NOT_VERIFIED,
  LoginWays,
} from '../accounts/index.js';
import { SocialIdentity } from './social-identity.entity.js';

/** The identities at providers that accounts can log in with. */
@Injectable()
export class SocialIdentities {
  constructor(
    @InjectRepository(SocialIdentity) private readonly identities: Repository<SocialIdentity>,
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly ways: LoginWays,
    private readonly clock: Clock,
  ) {
    ways.register((accountId) => this.count(accountId));
    accounts.onVerified(async (accountId) => {
      await this.identities.update({ accountId }, { addedUnverified: true });
    });
  }

  list(accountId: number): Promise<SocialIdentity[]> {
    return this.identities.find({ where: { accountId }, order: { id: 'ASC' } });
  }

  find(provider: string, subject: string): Promise<SocialIdentity | null> {
    return this.identities.findOne({ where: { provider, subject }, relations: { account: true } });
  }

  /** @throws an error for which {@link isDuplicate} is true, when an account has the identity already */
  async add(accountId: number, provider: string, subject: string): Promise<void> {
    await this.identities.insert({ accountId, provider, subject, createdAt: this.clock.now() });
  }

  /**
   * Links an identity to the account; linking it again changes nothing.
   *
   * @param onLinked runs in the same transaction
   * @throws AppError `FORBIDDEN` while the e-mail of the account is not verified, `CONFLICT` when another
   * account has the identity
   */
  async link(
    accountId: number,
    { provider, subject }: Pick<SocialIdentity, 'provider' | 'subject'>,
    onLinked: (account: Account) => Promise<void>,
  ): Promise<SocialIdentity> {
    try {
      await this.transactions.run(async () => {
        const account = await this.accounts.lock(accountId);
        // The person may have lost the address, or never have owned it.
        if (!account?.isActive || !account.isEmailVerified) throw emailNotVerified();
        await this.add(accountId, provider, subject);
        await onLinked(account);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    const identity = await this.identities.findOneBy({ provider, subject });
    if (identity?.accountId === accountId) return identity;
    throw new AppError('CONFLICT', LINKED_ELSEWHERE);
  }

  /**
   * @param id as in the path
   * @param onRemoved runs in the same transaction
   * @throws AppError `NOT_FOUND` if the account has no such identity, `CONFLICT` for the last way to log in
   */
  async unlink(accountId: number, id: string, onRemoved: (account: Account) => Promise<void>): Promise<void> {
    await this.transactions.run(async () => {
      const account = await this.accounts.lock(accountId);
      if (!account) throw accountDeleted();
      const identity = await this.identities.findOneBy({ id: toId(id) ?? NO_ROW, accountId });
      if (!identity) throw new AppError('NOT_FOUND', NO_SUCH_IDENTITY);
      await this.ways.requireAnother(account);
      await this.identities.delete({ id: identity.id });
      await onRemoved(account);
    });
  }

  count(accountId: number): Promise<number> {
    return this.identities.countBy({ accountId });
  }

  async removeAll(accountId: number): Promise<void> {
    await this.identities.delete({ accountId });
  }

  /** Removes those that were added before the e-mail was verified. @returns whether there were any */
  async removeUnverified(accountId: number): Promise<boolean> {
    const { affected } = await this.identities.delete({ accountId, addedUnverified: true });
    return affected !== 0;
  }
}

export const emailNotVerified = (): AppError =>
  new AppError('FORBIDDEN', EMAIL_NOT_VERIFIED, { isDenial: false });

export const LINKED_ELSEWHERE = 'This identity is linked to another account; unlink it there first';
export const NO_SUCH_IDENTITY = 'Your account has no identity with this id';
