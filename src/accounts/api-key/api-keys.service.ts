import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import {
  type ApiKeyInfo,
  CredentialWatch,
  OwnedByAccount,
  type Principal,
  RecentLogins,
  type Rights,
} from '../../platform/access/index.js';
import { Queries } from '../../platform/database/queries.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { Clock } from '../../platform/jobs/clock.js';
import { AccountChanges } from '../account-changes.js';
import { ACCOUNT, type AccountRow, toAccount } from '../account.row.js';
import { type Account } from '../account.entity.js';
import { Credentials, MAX_CREDENTIALS } from '../credentials.js';
import { hashOf } from '../one-time-secrets.js';
import { ApiKey } from './api-key.entity.js';
import type { CreateApiKeyInput } from './api-key.input.js';
import { isWellFormed, newKey, KEY_PREFIX_LENGTH } from './api-key-text.js';
import { toApiKeyView } from './api-key.view.js';

/** The precision of the last use, in milliseconds, so that not every request writes it. */
const RESOLUTION = 60_000;

export const TOO_MANY_KEYS = `An account has at most ${MAX_CREDENTIALS} API keys; delete one first`;
export const NO_SUCH_KEY = 'Your account has no API key with this id';

/**
 * Ends a statement about keys that count, wherever they do: not expired, and of active accounts.
 *
 * @param condition chooses keys
 */
const ofValid = (condition: string): string =>
  `FROM accounts JOIN (
     SELECT account_id, id AS "keyId", scope, last_used_at AS "lastUsedAt" FROM api_keys
     WHERE ${condition} AND (expires_at IS NULL OR expires_at > :now)
   ) AS api_key ON api_key.account_id = accounts.id WHERE is_active`;

/** The API keys of accounts. */
@Injectable()
@OwnedByAccount()
export class ApiKeysService extends Credentials<ApiKey> {
  private readonly logger = new Logger(ApiKeysService.name);

  constructor(
    @InjectRepository(ApiKey) keys: Repository<ApiKey>,
    changes: AccountChanges,
    watch: CredentialWatch,
    private readonly recent: RecentLogins,
    private readonly queries: Queries,
    private readonly clock: Clock,
  ) {
    super(keys, changes, {
      path: '/auth/api-keys',
      exported: 'api_keys',
      toView: toApiKeyView,
      added: { notice: 'api-key-added', security: ['api_key_created'] },
      removed: { notice: 'api-key-removed', security: ['api_key_removed'] },
      removedAll: { notice: 'api-key-removed', security: ['api_key_removed', 'all'] },
      tooMany: TOO_MANY_KEYS,
      noSuch: NO_SUCH_KEY,
    });
    watch.register({ idOf: ({ keyId }) => keyId, rightsOf: (ids) => this.rightsOf(ids) });
  }

  onRevocation(account: Account): Promise<void> {
    return this.removeAll(account);
  }

  /**
   * Finds the account of a key, in one statement.
   *
   * @returns `undefined` for a key that is unknown or has expired, or whose account is inactive
   */
  async find(key: string): Promise<[Account, ApiKeyInfo] | undefined> {
    if (!isWellFormed(key)) return undefined;
    const now = this.clock.now();
    const row = await this.queries.one<
      AccountRow & { keyId: number; scope: ApiKey['scope']; lastUsedAt: string | null }
    >(`SELECT ${ACCOUNT}, "keyId", scope, "lastUsedAt" ${ofValid('key_hash = :hash')}`, {
      hash: hashOf(key),
      now: now.toISOString(),
    });
    if (!row) return undefined;
    const { keyId, scope, lastUsedAt, ...account } = row;
    if (lastUsedAt === null || now.getTime() - Date.parse(lastUsedAt) >= RESOLUTION)
      this.recordUse(keyId, now);
    return [toAccount(account), { keyId, scope }];
  }

  /** The accounts of the keys that are valid, by the ids of the keys. */
  async rightsOf(ids: readonly unknown[]): Promise<ReadonlyMap<unknown, Rights>> {
    const rows = await this.queries.all<{ keyId: number } & Rights>(
      `SELECT "keyId", account_id AS "accountId", is_staff AS "isStaff"
       ${ofValid(`id IN (${this.queries.dialect.integersOf(':ids')})`)}`,
      { ids: JSON.stringify(ids), now: this.clock.now().toISOString() },
    );
    return new Map(rows.map((row) => [row.keyId, row]));
  }

  /** @returns the key as well, which is not stored */
  async create(
    caller: Principal,
    input: CreateApiKeyInput,
    client: ClientInfo,
  ): Promise<{ stored: ApiKey; key: string }> {
    const now = this.clock.now();
    const expiresAt = input.expires_at ?? null;
    if (expiresAt !== null && expiresAt <= now) throw inThePast();
    await this.recent.require(caller, input, client);
    const key = newKey();
    const stored = await this.add(caller, ({ id: accountId }) =>
      this.rows.save(
        this.rows.create({
          accountId,
          name: input.name,
          prefix: key.slice(0, KEY_PREFIX_LENGTH),
          scope: input.scope,
          keyHash: hashOf(key),
          createdAt: now,
          lastUsedAt: null,
          expiresAt,
        }),
      ),
    );
    return { stored, key };
  }

  /** Not awaited: reading with a key also works while the database cannot write. The next request tries again. */
  private recordUse(id: number, now: Date): void {
    this.rows.update({ id }, { lastUsedAt: now }).catch((error: unknown) => {
      this.logger.warn({ msg: 'The use of an API key could not be recorded', err: error });
    });
  }
}

function inThePast(): AppError {
  const message = 'expires_at must be in the future';
  return new AppError('VALIDATION_ERROR', message, { details: [{ field: 'expires_at', message }] });
}
