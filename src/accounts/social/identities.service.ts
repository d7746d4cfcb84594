import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AccountData, type Principal, type RecentInput, RecentLogins } from '../../platform/access/index.js';
import { isDuplicate } from '../../platform/database/failures.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { idOrUnknown } from '../../platform/http/validation/id.js';
import { Clock } from '../../platform/jobs/clock.js';
import { AccountChanges } from '../account-changes.js';
import { type Account } from '../account.entity.js';
import { SessionsService } from '../sessions.service.js';
import { SocialIdentity } from './social-identity.entity.js';
import { emailNotVerified } from '../login.errors.js';

/** The maximum number of identities of an account. */
const MAX_IDENTITIES = 50;

export const TOO_MANY_IDENTITIES = `An account has at most ${MAX_IDENTITIES} identities; remove one first`;
export const LINKED_ELSEWHERE = 'This identity is linked to another account; unlink it there first';
export const NO_SUCH_IDENTITY = 'Your account has no identity with this id';

/** The identities at providers that accounts can log in with. */
@Injectable()
export class IdentitiesService {
  constructor(
    @InjectRepository(SocialIdentity) private readonly identities: Repository<SocialIdentity>,
    private readonly sessions: SessionsService,
    private readonly recent: RecentLogins,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
    private readonly clock: Clock,
  ) {}

  list(accountId: number): Promise<SocialIdentity[]> {
    return this.identities.find({ where: { accountId }, order: { id: 'ASC' } });
  }

  count({ id: accountId }: Pick<Account, 'id'>): Promise<number> {
    return this.identities.countBy({ accountId });
  }

  find(provider: string, subject: string): Promise<SocialIdentity | null> {
    return this.identities.findOne({ where: { provider, subject }, relations: { account: true } });
  }

  /**
   * @param account locked
   * @throws an error for which {@link isDuplicate} is true, when an account has the identity already; AppError `CONFLICT`
   * when the account has too many others
   */
  async add({ id: accountId }: Account, provider: string, subject: string): Promise<void> {
    const identity = { accountId, provider, subject };
    if (
      (await this.count({ id: accountId })) >= MAX_IDENTITIES &&
      !(await this.identities.existsBy(identity))
    )
      throw new AppError('CONFLICT', TOO_MANY_IDENTITIES);
    await this.identities.insert({ ...identity, createdAt: this.clock.now() });
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
    const traces = {
      notice: 'identity-added',
      actor: accountId,
      sessionEnded,
      security: ['identity_changed', 'added'],
    } as const;
    try {
      await this.changes.addAccess({ account: { id: accountId }, sid }, traces, async (account) => {
        // The person may have lost the address, or never have owned it.
        if (!account.isEmailVerified) throw emailNotVerified();
        await this.add(account, provider, subject);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    const identity = await this.identities.findOneBy({ provider, subject });
    if (identity?.accountId === accountId) return identity;
    throw new AppError('CONFLICT', LINKED_ELSEWHERE);
  }

  /** @param id as in the path */
  async unlink(caller: Principal, id: string, input: RecentInput, client: ClientInfo): Promise<void> {
    await this.recent.require(caller, input, client);
    const identityId = idOrUnknown(id);
    const traces = {
      notice: 'identity-removed',
      subject: `/auth/identities/${identityId}`,
      security: ['identity_changed', 'removed'],
    } as const;
    await this.changes.run(caller.account.id, traces, async (account) => {
      if (!(await this.identities.existsBy({ id: identityId, accountId: account.id })))
        throw new AppError('NOT_FOUND', NO_SUCH_IDENTITY);
      await this.data.requireAnotherWay(account);
      await this.identities.delete({ id: identityId });
    });
  }

  /** Marks what was added until the owner is confirmed. */
  async markUnconfirmed({ id: accountId }: Pick<Account, 'id'>): Promise<void> {
    await this.identities.update({ accountId }, { addedUnconfirmed: true });
  }

  /** Removes all, or those that were added before the owner was confirmed. @returns whether there were any */
  async removeAll(
    { id: accountId }: Pick<Account, 'id'>,
    which: { onlyUnconfirmed: boolean },
  ): Promise<boolean> {
    const { affected } = await this.identities.delete({
      accountId,
      ...(which.onlyUnconfirmed && { addedUnconfirmed: true }),
    });
    return affected !== 0;
  }
}

const sessionEnded = (): AppError =>
  new AppError('UNAUTHENTICATED', 'The login that started the linking has ended; log in and start again');
