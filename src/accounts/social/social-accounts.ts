import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { isStorable } from '../../platform/http/validation/text.js';
import { isDuplicate } from '../../platform/database/failures.js';
import { Config } from '../../platform/config/config.js';
import { Transactions } from '../../platform/database/transactions.js';
import { AccountChanges } from '../account-changes.js';
import { type Account, NO_PASSWORD } from '../account.entity.js';
import { AccountsService, REGISTRATION_CLOSED } from '../accounts.service.js';
import { emailKey, isSameEmail, normalizeNewEmail } from '../email-address.js';
import type { SocialProfile } from './providers/social-provider.js';
import { IdentitiesService } from './identities.service.js';

/** Concurrent logins may create the account and the identity first, so two retries are enough to find both. */
const ATTEMPTS = 3;

/** In code points; the same limit as for registrations. */
const NAME_LENGTH = 150;

/** OpenID Connect Core 1.0, section 2 */
const SUBJECT_LENGTH = 255;

export const UNVERIFIED_OWNER =
  'An account with this e-mail exists, but the e-mail is not verified; log in to that account and link the provider there';

export const SIMILAR_EMAIL =
  'An account with an e-mail that differs only in its letters exists; log in to that account and link the provider there';

/** Finds or creates the account of a social login. */
@Injectable()
export class SocialAccounts {
  constructor(
    private readonly identities: IdentitiesService,
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly changes: AccountChanges,
    private readonly security: SecurityEvents,
    private readonly config: Config,
  ) {}

  /**
   * The account of the identity; else the account of the e-mail, if both the provider and this service
   * have verified that; else a new one. If the owner of the account is not confirmed, somebody else may have registered it:
   * the login removes the password, the other logins and what was added.
   */
  async find(provider: string, profile: SocialProfile): Promise<Account> {
    requireSubject(profile);
    for (let attempt = 1; ; attempt++) {
      const known = await this.identities.find(provider, profile.subject);
      if (known) return this.active(known.account!);
      const email = emailOf(profile);
      const owner = await this.accounts.findByEmail(email);
      if (owner) {
        rejectUnlessOwner(owner, profile, email);
        this.active(owner);
      }
      // Without the provider's verification, the address could be another person's.
      if (!owner && !profile.emailVerified) throw emailFault('email must be verified by the provider first');
      if (!owner && !this.config.registrationOpen)
        throw new AppError('FORBIDDEN', REGISTRATION_CLOSED, { isDenial: false });
      try {
        return await this.transactions.run(async () => {
          const account = owner
            ? await this.claim(owner)
            : await this.accounts.createWithoutPassword(email, nameOf(profile.name, email));
          await this.identities.insert(account, provider, profile.subject);
          const security = ['identity_changed', 'added'] as const;
          await this.changes.report(account, { security, ...(owner && { notice: 'identity-added' }) });
          return account;
        });
      } catch (error) {
        const isOvertaken = isDuplicate(error) || error instanceof OwnerChanged;
        if (!isOvertaken || attempt === ATTEMPTS) throw error;
      }
    }
  }

  private active(account: Account): Account {
    if (account.isActive) return account;
    this.security.record('login_failed', { accountId: account.id, reason: 'inactive' });
    throw new AppError('UNAUTHENTICATED', 'The account is deactivated');
  }

  /** The account for its owner. Of one that a stranger may have prepared, only the profile stays. */
  private async claim(owner: Account): Promise<Account> {
    const account = await this.lock(owner);
    if (account.isOwnerConfirmed) return account;
    await this.accounts.resetPassword(account, NO_PASSWORD);
    const security = ['password_changed', 'removed by a social login'] as const;
    await this.changes.report(account, { notice: 'password-changed', security });
    return this.lock(owner);
  }

  /** @throws OwnerChanged when the account was deleted, or got another e-mail, after it was found */
  private async lock({ id, email }: Account): Promise<Account> {
    const account = await this.accounts.lock(id);
    if (!account || emailKey(account.email) !== emailKey(email)) throw new OwnerChanged();
    return this.active(account);
  }
}

/** The account must be looked up again. */
class OwnerChanged extends Error {}

function emailOf({ email: sent }: SocialProfile): string {
  const email = normalizeNewEmail(sent ?? '');
  if (email === undefined) throw emailFault('The provider did not return an e-mail address for your account');
  return email;
}

/** Prevents taking over an unverified account, and preparing one for another person. */
function rejectUnlessOwner(account: Account, { emailVerified }: SocialProfile, email: string): void {
  if (!isSameEmail(account.email, email)) throw new AppError('CONFLICT', SIMILAR_EMAIL);
  if (!emailVerified || !account.isEmailVerified) {
    throw new AppError('CONFLICT', UNVERIFIED_OWNER);
  }
}

export function requireSubject({ subject }: SocialProfile): void {
  if (subject === '' || subject.length > SUBJECT_LENGTH || !isStorable(subject))
    throw new AppError('UNAUTHENTICATED', 'The provider did not send a user id');
}

function emailFault(message: string): AppError {
  return new AppError('VALIDATION_ERROR', message, { details: [{ field: 'email', message }] });
}

/** Users may have no name at a provider, or one that is too long. */
function nameOf(name: string | undefined, email: string): string {
  const text = name && isStorable(name) ? name : email.slice(0, email.lastIndexOf('@'));
  return Array.from(text).slice(0, NAME_LENGTH).join('');
}
