import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../common/clock/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { isStorable } from '../../common/validation/text.js';
import { isDuplicate } from '../../database/failures.js';
import { Transactions } from '../../database/transactions.js';
import { type Account, AccountsService, normalizeEmail } from '../accounts/index.js';
import type { SocialProfile } from './providers/social-provider.js';
import { SocialIdentity } from './social-identity.entity.js';

/** Others may be faster twice, with the account and with the identity; then both are there to be found. */
const ATTEMPTS = 3;

/** In code points; as what accounts are registered with. */
const NAME_LENGTH = 150;

/** OpenID Connect Core 1.0, section 2 */
const SUBJECT_LENGTH = 255;

/** Which account someone logs in to by a provider. */
@Injectable()
export class SocialAccounts {
  constructor(
    @InjectRepository(SocialIdentity) private readonly identities: Repository<SocialIdentity>,
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
  ) {}

  /**
   * The account that they have logged in to before; else the one of their e-mail, if both the provider and we
   * have verified that; else a new one.
   *
   * @throws AppError `UNAUTHENTICATED` when the account is switched off, `CONFLICT` when it may be someone else's,
   * `VALIDATION_ERROR` without an e-mail to make one by
   */
  async find(provider: string, profile: SocialProfile): Promise<Account> {
    if (!isSubject(profile.subject))
      throw new AppError('UNAUTHENTICATED', 'The provider does not say who this is');
    for (let attempt = 1; ; attempt++) {
      const known = await this.known(provider, profile.subject);
      if (known) return active(known);
      const email = emailOf(profile);
      const owner = await this.accounts.findByEmail(email);
      if (owner) refuseUnlessTheirs(owner, profile);
      // Marked as verified by us, it would be theirs who have only said so.
      else if (!profile.emailVerified) throw emailFault('email must be verified by the provider first');
      try {
        return await this.transactions.run(async () => {
          const account =
            owner ?? (await this.accounts.createWithoutPassword(email, nameOf(profile.name, email)));
          await this.link(account, provider, profile.subject);
          return account;
        });
      } catch (error) {
        if (!isDuplicate(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  private async known(provider: string, subject: string): Promise<Account | undefined> {
    const identity = await this.identities.findOne({
      where: { provider, subject },
      relations: { account: true },
    });
    return identity?.account;
  }

  private async link({ id }: Account, provider: string, subject: string): Promise<void> {
    await this.identities.insert({ accountId: id, provider, subject, createdAt: this.clock.now() });
  }
}

/** @throws AppError `VALIDATION_ERROR` */
function emailOf({ email: sent }: SocialProfile): string {
  const email = normalizeEmail(sent ?? '');
  if (email === undefined) throw emailFault('email is not among what the provider says of you');
  return email;
}

/** Nobody takes over an account in waiting, nor gets one ready for someone else. */
function refuseUnlessTheirs(account: Account, { emailVerified }: SocialProfile): void {
  if (!emailVerified || !account.isEmailVerified) {
    throw new AppError(
      'CONFLICT',
      'There is an account with this e-mail, which nobody has verified to be yours',
    );
  }
  active(account);
}

const isSubject = (subject: string): boolean =>
  subject !== '' && subject.length <= SUBJECT_LENGTH && isStorable(subject);

function active(account: Account): Account {
  if (account.isActive) return account;
  throw new AppError('UNAUTHENTICATED', 'The account is switched off');
}

function emailFault(message: string): AppError {
  return new AppError('VALIDATION_ERROR', message, { details: [{ field: 'email', message }] });
}

/** People may be without a name at a provider, or have a longer one than we keep. */
function nameOf(name: string | undefined, email: string): string {
  const text = name && isStorable(name) ? name : email.slice(0, email.lastIndexOf('@'));
  return Array.from(text).slice(0, NAME_LENGTH).join('');
}
