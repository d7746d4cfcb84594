import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { Queries } from '../../platform/database/queries.js';
import type { ApiKeyInfo, Rights } from '../../platform/access/index.js';
import { ACCOUNT, type Account, type AccountRow, toAccount } from '../accounts/index.js';
import { ApiKey } from './api-key.entity.js';
import { hashOf, isWellFormed } from './api-key-text.js';

/** The precision of the last use, in milliseconds, so that not every request writes it. */
const RESOLUTION = 60_000;

/** The API keys of accounts, as they are stored. Nothing in it serves, so commands may use it. */
@Injectable()
export class ApiKeys {
  private readonly logger = new Logger(ApiKeys.name);

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly queries: Queries,
    private readonly clock: Clock,
  ) {}

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
    >(
      `SELECT ${ACCOUNT}, "keyId", scope, "lastUsedAt" FROM accounts JOIN (
         SELECT id AS "keyId", account_id, scope, last_used_at AS "lastUsedAt" FROM api_keys
         WHERE key_hash = :hash AND (expires_at IS NULL OR expires_at > :now)
       ) AS api_key ON api_key.account_id = accounts.id WHERE is_active`,
      { hash: hashOf(key), now: now.toISOString() },
    );
    if (!row) return undefined;
    const { keyId, scope, lastUsedAt, ...account } = row;
    if (lastUsedAt === null || now.getTime() - Date.parse(lastUsedAt) >= RESOLUTION)
      this.recordUse(keyId, now);
    return [toAccount(account), { keyId, scope }];
  }

  /** The accounts of the keys that are valid, by the ids of the keys. */
  async rightsOf(ids: readonly unknown[]): Promise<ReadonlyMap<unknown, Rights>> {
    const rows = await this.queries.all<{ id: number } & Rights>(
      `SELECT api_keys.id, account_id AS "accountId", is_staff AS "isStaff"
       FROM api_keys JOIN accounts ON accounts.id = account_id
       WHERE api_keys.id IN (${this.queries.dialect.integersOf(':ids')})
         AND (expires_at IS NULL OR expires_at > :now) AND is_active`,
      { ids: JSON.stringify(ids), now: this.clock.now().toISOString() },
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  list(accountId: number): Promise<ApiKey[]> {
    return this.keys.find({ where: { accountId }, order: { id: 'ASC' } });
  }

  count(accountId: number): Promise<number> {
    return this.keys.countBy({ accountId });
  }

  /** @returns whether there was one */
  async removeAll(accountId: number): Promise<boolean> {
    const { affected } = await this.keys.delete({ accountId });
    return affected !== 0;
  }

  /** Not awaited: reading with a key also works while the database cannot write. The next request tries again. */
  private recordUse(id: number, now: Date): void {
    this.keys.update({ id }, { lastUsedAt: now }).catch((error: unknown) => {
      this.logger.warn({ msg: 'The use of an API key could not be recorded', err: error });
    });
  }
}
