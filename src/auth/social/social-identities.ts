import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../common/ports/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { NO_ROW, toId } from '../../common/validation/id.js';
import { isDuplicate } from '../../database/failures.js';
import { Transactions } from '../../database/transactions.js';
import { AccountsService, EMAIL_NOT_VERIFIED, NO_PASSWORD } from '../accounts/index.js';
import { SocialIdentity } from './social-identity.entity.js';

/** The identities at providers that accounts can log in with. */
@Injectable()
export class SocialIdentities {
  constructor(
    @InjectRepository(SocialIdentity) private readonly identities: Repository<SocialIdentity>,
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
  ) {}

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
   * @throws AppError `FORBIDDEN` while the e-mail of the account is not verified, `CONFLICT` when another
   * account has the identity
   */
  async link(accountId: number, provider: string, subject: string): Promise<SocialIdentity> {
    try {
      await this.transactions.run(async () => {
        const account = await this.accounts.lock(accountId);
        // The person may have lost the address, or never have owned it.
        if (!account?.isActive || !account.isEmailVerified) throw emailNotVerified();
        await this.add(accountId, provider, subject);
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
   * @throws AppError `NOT_FOUND` if the account has no such identity, `CONFLICT` for the last way to log in
   */
  async unlink(accountId: number, id: string): Promise<void> {
    await this.transactions.run(async () => {
      // Of two concurrent removals, the second must see that only one identity is left.
      const account = await this.accounts.lock(accountId);
      const identities = await this.list(accountId);
      const identity = identities.find((each) => each.id === (toId(id) ?? NO_ROW));
      if (!identity) throw new AppError('NOT_FOUND', NO_SUCH_IDENTITY);
      if (identities.length === 1 && account?.passwordHash === NO_PASSWORD) {
        throw new AppError('CONFLICT', LAST_WAY);
      }
      await this.identities.delete({ id: identity.id });
    });
  }

  /** Removes all identities of an account. */
  async removeAll(accountId: number): Promise<void> {
    await this.identities.delete({ accountId });
  }
}

export const emailNotVerified = (): AppError => new AppError('FORBIDDEN', EMAIL_NOT_VERIFIED);

export const LINKED_ELSEWHERE = 'This identity is linked to another account; unlink it there first';
export const NO_SUCH_IDENTITY = 'Your account has no identity with this id';
export const LAST_WAY =
  'This is the only way to log in to your account; set a password first with POST /auth/password/reset/';
