import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { toId } from '../../platform/http/validation/id.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import type { Principal } from '../../platform/access/index.js';
import { AccountMails } from '../account-mails/index.js';
import { Logins, type RecentInput, RecentLogins } from '../logins/index.js';
import { LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import type { SocialProfile } from './providers/social-provider.js';
import { isSubject } from './social-accounts.js';
import { emailNotVerified, SocialIdentities } from './social-identities.js';
import type { SocialIdentity } from './social-identity.entity.js';

/** A login that a browser continues at a provider. */
export interface StartedFlow {
  readonly url: string;
  readonly cookie: string;
}

/** Links identities to the accounts of logged-in users. */
@Injectable()
export class SocialLinks {
  constructor(
    private readonly clients: ProviderClients,
    private readonly flows: LoginFlows,
    private readonly identities: SocialIdentities,
    private readonly logins: Logins,
    private readonly recent: RecentLogins,
    private readonly mails: AccountMails,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  /**
   * @returns the address of the provider's login page, and the cookie of the flow
   * @throws IncorrectPassword
   * @throws AppError `FORBIDDEN` without a recent login, or while the e-mail is not verified, and as
   * {@link ProviderClients.authorizationUrl}
   */
  async start(
    provider: string,
    caller: Principal,
    input: RecentInput,
    client: ClientInfo,
  ): Promise<StartedFlow> {
    const { account, sid } = caller;
    this.clients.requireConfigured(provider);
    await this.recent.require(caller, input, client);
    if (!account.isEmailVerified) throw emailNotVerified();
    if (sid === undefined)
      throw new AppError('UNAUTHENTICATED', 'Log in with a session or a token to do this');
    const { flow, cookie } = this.flows.start(provider, { linkTo: sid });
    const url = await this.clients.authorizationUrl(provider, flow);
    await this.transactions.run(() => this.changes.record());
    return { url, cookie };
  }

  /**
   * @param sid the login that started the link; it must still be valid
   * @throws AppError `UNAUTHENTICATED` when that login has ended, and as {@link SocialIdentities.link}
   */
  async finish(provider: string, sid: string, { subject }: SocialProfile): Promise<SocialIdentity> {
    if (!isSubject(subject)) throw new AppError('UNAUTHENTICATED', 'The provider did not send a user id');
    const accountId = await this.logins.ownerOf(sid);
    if (accountId === undefined) throw loginEnded();
    return this.identities.link(accountId, { provider, subject }, async (account) => {
      // It may have ended meanwhile; the account is locked now.
      if ((await this.logins.ownerOf(sid)) === undefined) throw loginEnded();
      await this.mails.notify(account, 'identity-added');
      await this.changes.record({ actor: accountId });
    });
  }

  /**
   * @throws IncorrectPassword
   * @throws AppError `FORBIDDEN` without a recent login, and as {@link SocialIdentities.unlink}
   */
  async remove(caller: Principal, id: string, input: RecentInput, client: ClientInfo): Promise<void> {
    await this.recent.require(caller, input, client);
    await this.identities.unlink(caller.account.id, id, async (account) => {
      await this.mails.notify(account, 'identity-removed');
      await this.changes.record({ subject: `/auth/identities/${toId(id)}` });
    });
  }
}

const loginEnded = (): AppError =>
  new AppError('UNAUTHENTICATED', 'The login that started the linking has ended; log in and start again');
