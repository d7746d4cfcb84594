import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { OwnedByAccount, type OwnedData } from '../access/index.js';
import { Queries } from '../database/queries.js';
import type { Statement } from '../database/statement.js';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { currentContext } from '../http/request-context.js';
import { Clock } from '../jobs/clock.js';
import type { Fingerprints } from './idempotency-scope.js';

/** How long a response is stored, in milliseconds: 24 hours. */
const LIFETIME = 24 * 60 * 60_000;

/** A response in its final form. */
export interface StoredResponse {
  readonly status: number;
  /** The headers that the handling of the request has set. */
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  /** `null` if the response had no body. */
  readonly body: string | null;
}

interface Row {
  readonly fingerprint: string;
  readonly status: number;
  /** In JSON. */
  readonly headers: string;
  /** In JSON, because PostgreSQL stores no NUL. */
  readonly body: string;
}

/** The responses that are stored for keys. */
@Injectable()
@OwnedByAccount()
export class IdempotencyRecords implements OwnedData {
  constructor(
    private readonly queries: Queries,
    private readonly clock: Clock,
  ) {}

  /** Deletes the stored responses to an account: that of the registration contains the account. */
  async onDeletion({ id }: { readonly id: number }, manager: EntityManager): Promise<void> {
    await manager
      .createQueryBuilder()
      .delete()
      .from('idempotency_records')
      .where('id IN (SELECT record_id FROM idempotency_accounts WHERE account_id = :id)', { id })
      .execute();
  }

  /** @throws AppError `IDEMPOTENCY_KEY_REUSED` when the key was used with another body */
  async find(id: string, fingerprints: Fingerprints): Promise<StoredResponse | undefined> {
    const row = await this.queries.one<Row>(
      `SELECT fingerprint, status, headers, body FROM idempotency_records
       WHERE id = :id AND expires_at > :now`,
      { id, now: this.clock.now().toISOString() },
    );
    if (!row) return undefined;
    if (!fingerprints.includes(row.fingerprint)) {
      throw new AppError('IDEMPOTENCY_KEY_REUSED', ERRORS.IDEMPOTENCY_KEY_REUSED.message);
    }
    return { status: row.status, headers: JSON.parse(row.headers), body: JSON.parse(row.body) };
  }

  /** Selects the record of a key that has been stored. */
  selection(id: string): Statement {
    return {
      sql: 'SELECT id FROM idempotency_records WHERE id = :id AND expires_at > :now',
      parameters: { id, now: this.clock.now().toISOString() },
    };
  }

  /** Inserts the record of a response. */
  insertion(id: string, fingerprint: string, { status, headers, body }: StoredResponse): Statement[] {
    const record = { status, headers: JSON.stringify(headers), body: JSON.stringify(body) };
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIME).toISOString();
    const statements: Statement[] = [{ sql: INSERT, parameters: { id, fingerprint, ...record, expiresAt } }];
    // The caller, or the account that a registration has created: its erasure also deletes the record.
    const accountId = currentContext()?.accountId;
    if (accountId !== undefined) statements.push({ sql: INSERT_ACCOUNT, parameters: { id, accountId } });
    return statements;
  }
}

/** An expired record may still be there. */
const INSERT = `
  INSERT INTO idempotency_records (id, fingerprint, status, headers, body, expires_at)
  VALUES (:id, :fingerprint, :status, :headers, :body, :expiresAt)
  ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
    headers = excluded.headers, body = excluded.body, expires_at = excluded.expires_at`;

const INSERT_ACCOUNT = `
  INSERT INTO idempotency_accounts (record_id, account_id) VALUES (:id, :accountId)
  ON CONFLICT (record_id) DO UPDATE SET account_id = excluded.account_id`;
