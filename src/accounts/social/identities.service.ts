import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import {
  AccountData,
  OwnedByAccount,
  type Principal,
  type RecentInput,
  RecentLogins,
} from '../../platform/access/index.js';
import { isDuplicate } from '../../platform/database/failures.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { Clock } from '../../platform/jobs/clock.js';
import { AccountChanges } from '../account-changes.js';
import { type Account } from '../account.entity.js';
import { MAX_CREDENTIALS, WaysToLogIn } from '../credentials.js';
import { SessionsService } from '../sessions.service.js';
import { toIdentityView } from './identity.view.js';
import { SocialIdentity } from './social-identity.entity.js';
import { emailNotVerified } from '../login.errors.js';

export const TOO_MANY_IDENTITIES = `An account has at most ${MAX_CREDENTIALS} identities; remove one first`;
export const LINKED_ELSEWHERE = 'This identity is linked to another account; unlink it there first';
export const NO_SUCH_IDENTITY = 'Your account has no identity with this id';

const ADDED = { notice: 'identity-added', security: ['identity_changed', 'added'] } as const;

/** The identities at providers that accounts can log in with. */
@Injectable()
@OwnedByAccount()
export class IdentitiesService extends WaysToLogIn<SocialIdentity> {
  constructor(
    @InjectRepository(SocialIdentity) identities: Repository<SocialIdentity>,
    changes: AccountChanges,
    data: AccountData,
    private readonly recent: RecentLogins,
    private readonly sessions: SessionsService,
    private readonly clock: Clock,
  ) {
    super(
      identities,
      changes,
      {
        path: '/auth/identities',
        exported: 'identities',
        toView: toIdentityView,
        added: ADDED,
        removed: { notice: 'identity-removed', security: ['identity_changed', 'removed'] },
        tooMany: TOO_MANY_IDENTITIES,
        noSuch: NO_SUCH_IDENTITY,
      },
      data,
    );
  }

  find(provider: string, subject: string): Promise<SocialIdentity | null> {
    return this.rows.findOne({ where: { provider, subject }, relations: { account: true } });
  }

  /**
   * @param account locked
   * @throws an error for which {@link isDuplicate} is true, when an account has the identity already; AppError `CONFLICT`
   * when the account has too many others
   */
  async insert({ id: accountId }: Account, provider: string, subject: string): Promise<void> {
    const identity = { accountId, provider, subject };
    if (!(await this.rows.existsBy(identity))) await this.requireRoom({ id: accountId });
    await this.rows.insert({ ...identity, createdAt: this.clock.now() });
  }

  /** @param start starts the flow at the provider for the login of the caller */
  async startLink<T>(
    caller: Principal,
    input: RecentInput,
    client: ClientInfo,
    start: (sid: string) => Promise<T>,
  ): Promise<T> {
    const { account, sid } = caller;
    await this.recent.require(caller, input, client);
    if (!account.isEmailVerified) throw emailNotVerified();
    if (sid === undefined)
      throw new AppError('UNAUTHENTICATED', 'Log in with a session or a token to do this');
    const started = await start(sid);
    await this.changes.run(account.id, {}, async () => undefined);
    return started;
  }

  /**
   * Links an identity to the account of a login; linking it again changes nothing.
   *
   * @param sid the login that started the link; it must still be valid
   */
  async link(sid: string, provider: string, subject: string): Promise<SocialIdentity> {
    const accountId = await this.sessions.ownerOf(sid);
    if (accountId === undefined) throw sessionEnded();
    const traces = { ...ADDED, actor: accountId, sessionEnded };
    try {
      await this.changes.addAccess({ account: { id: accountId }, sid }, traces, async (account) => {
        // The person may have lost the address, or never have owned it.
        if (!account.isEmailVerified) throw emailNotVerified();
        await this.insert(account, provider, subject);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    const identity = await this.rows.findOneBy({ provider, subject });
    if (identity?.accountId === accountId) return identity;
    throw new AppError('CONFLICT', LINKED_ELSEWHERE);
  }
}

const sessionEnded = (): AppError =>
  new AppError('UNAUTHENTICATED', 'The login that started the linking has ended; log in and start again');
