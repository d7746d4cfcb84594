import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { NO_ROW, toId } from '../../platform/http/validation/id.js';
import { parseTime } from '../../platform/http/time.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import type { Principal } from '../../platform/access/index.js';
import { AccountMails } from '../account-mails/index.js';
import { type Account, accountDeleted, AccountsService } from '../accounts/index.js';
import { Logins, RecentLogins } from '../logins/index.js';
import { ApiKey } from './api-key.entity.js';
import type { CreateApiKeyInput } from './api-key.input.js';
import { hashOf, newKey, PREFIX_LENGTH } from './api-key-text.js';
import { ApiKeys } from './api-keys.js';

const MAX_KEYS = 50;

export const TOO_MANY_KEYS = `An account has at most ${MAX_KEYS} API keys; delete one first`;
export const NO_SUCH_KEY = 'Your account has no API key with this id';

/** What owners of accounts do with their API keys. */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly repository: Repository<ApiKey>,
    private readonly keys: ApiKeys,
    private readonly accounts: AccountsService,
    private readonly logins: Logins,
    private readonly recent: RecentLogins,
    private readonly mails: AccountMails,
    private readonly security: SecurityEvents,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly clock: Clock,
  ) {}

  list({ id }: Account): Promise<ApiKey[]> {
    return this.keys.list(id);
  }

  /**
   * @returns the key as well, which is not stored
   * @throws IncorrectPassword; AppError `FORBIDDEN` without a recent login, `CONFLICT` if there are too many
   */
  async create(
    caller: Principal,
    input: CreateApiKeyInput,
    client: ClientInfo,
  ): Promise<{ stored: ApiKey; key: string }> {
    const now = this.clock.now();
    const expiresAt = input.expires_at == null ? null : parseTime(input.expires_at)!;
    if (expiresAt !== null && expiresAt <= now) throw inThePast();
    await this.recent.require(caller, input, client);
    const key = newKey();
    const stored = await this.transactions.run(async () => {
      const account = await this.accounts.lock(caller.account.id);
      if (!account?.isActive) throw accountDeleted();
      await this.logins.requireOpen(caller.sid);
      if ((await this.repository.countBy({ accountId: account.id })) >= MAX_KEYS)
        throw new AppError('CONFLICT', TOO_MANY_KEYS);
      await this.mails.notify(account, 'api-key-added');
      const created = await this.repository.save(
        this.repository.create({
          accountId: account.id,
          name: input.name,
          prefix: key.slice(0, PREFIX_LENGTH),
          scope: input.scope,
          keyHash: hashOf(key),
          createdAt: now,
          lastUsedAt: null,
          expiresAt,
        }),
      );
      await this.changes.record({ subject: `/auth/api-keys/${created.id}` });
      return created;
    });
    this.security.record('api_key_created', { accountId: caller.account.id });
    return { stored, key };
  }

  /** @param id as in the path @throws AppError `NOT_FOUND` */
  async remove({ id: accountId }: Account, id: string): Promise<void> {
    await this.transactions.run(async () => {
      const account = await this.accounts.lock(accountId);
      if (!account) throw accountDeleted();
      const keyId = toId(id) ?? NO_ROW;
      const { affected } = await this.repository.delete({ id: keyId, accountId });
      if (affected !== 1) throw new AppError('NOT_FOUND', NO_SUCH_KEY);
      await this.mails.notify(account, 'api-key-removed');
      await this.changes.record({ subject: `/auth/api-keys/${keyId}` });
    });
  }
}

function inThePast(): AppError {
  const message = 'expires_at must be in the future';
  return new AppError('VALIDATION_ERROR', message, { details: [{ field: 'expires_at', message }] });
}
