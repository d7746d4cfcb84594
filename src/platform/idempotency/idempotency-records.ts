import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Queries } from '../database/queries.js';
import type { Statement } from '../database/statement.js';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { currentActor } from '../http/request-context.js';
import { Clock } from '../jobs/clock.js';
import { readOrRemove } from '../operations/metrics.js';
import { compress, expand, type StoredText } from './compressed-text.js';
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
  readonly headers: string;
  readonly body: string | null;
  readonly encoding: StoredText['encoding'];
}

/** The size of a record besides its headers and body, in bytes. */
const OVERHEAD = 300;

/** The maximum age of the known total size of all records, in milliseconds. */
const USAGE_MAX_AGE = 1000;

/** The responses that are stored for keys. */
@Injectable()
export class IdempotencyRecords {
  /** The size of all records in bytes: as last read, and what this process has added since. */
  private usage = 0;
  private usageAt = 0;

  constructor(
    private readonly queries: Queries,
    private readonly clock: Clock,
    private readonly config: Config,
    registry: Registry,
    database: Database,
  ) {
    const registers = [registry];
    const bytes = () => this.bytes((sql) => database.monitor(sql));
    new Gauge({
      name: 'idempotency_records_bytes',
      help: 'Size of all responses that are kept',
      registers,
      collect() {
        return readOrRemove(this, async () => this.set(await bytes()));
      },
    });
    new Gauge({
      name: 'idempotency_records_max_bytes',
      help: 'Size that they may have together',
      registers,
    }).set(config.idempotencyMaxBytes);
  }

  /** @throws AppError `IDEMPOTENCY_KEY_REUSED` when the key was used with another body */
  async find(id: string, fingerprints: Fingerprints): Promise<StoredResponse | undefined> {
    const row = await this.queries.one<Row>(
      `SELECT fingerprint, status, headers, body, encoding FROM idempotency_records
       WHERE id = :id AND expires_at > :now`,
      { id, now: this.clock.now().toISOString() },
    );
    if (!row) return undefined;
    if (!fingerprints.includes(row.fingerprint)) {
      throw new AppError('IDEMPOTENCY_KEY_REUSED', ERRORS.IDEMPOTENCY_KEY_REUSED.message);
    }
    const { status, headers, body, encoding } = row;
    const text = body === null ? null : await expand({ text: body, encoding });
    return { status, headers: JSON.parse(headers), body: text };
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` while the records use all of their space */
  async assertNotFull(): Promise<void> {
    const now = this.clock.now().getTime();
    if (Math.abs(now - this.usageAt) >= USAGE_MAX_AGE) {
      this.usageAt = now;
      this.usage = await this.bytes((sql) => this.queries.all(sql));
    }
    if (this.usage < this.config.idempotencyMaxBytes) return;
    throw new AppError('SERVICE_UNAVAILABLE', 'Too many responses are stored at the moment; retry later');
  }

  private async bytes(read: (sql: string) => Promise<{ bytes: number }[]>): Promise<number> {
    const [row] = await read(
      'SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM idempotency_usage',
    );
    return row!.bytes;
  }

  /** Selects the record of a key that has been stored. */
  selection(id: string): Statement {
    return {
      sql: 'SELECT id FROM idempotency_records WHERE id = :id AND expires_at > :now',
      parameters: { id, now: this.clock.now().toISOString() },
    };
  }

  /** Inserts the record of a response. */
  insertion(id: string, fingerprint: string, response: StoredResponse): Statement[] {
    const record = recordOf(response);
    this.usage += record.size;
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIME).toISOString();
    const statements: Statement[] = [{ sql: INSERT, parameters: { id, fingerprint, ...record, expiresAt } }];
    // The caller, or the account that a registration has created: its erasure also deletes the record.
    const accountId = currentActor();
    if (accountId !== undefined) statements.push({ sql: INSERT_ACCOUNT, parameters: { id, accountId } });
    return statements;
  }
}

/** An expired record may still be there. */
const INSERT = `
  INSERT INTO idempotency_records (id, fingerprint, status, headers, body, encoding, size, expires_at)
  VALUES (:id, :fingerprint, :status, :head, :text, :encoding, :size, :expiresAt)
  ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
    headers = excluded.headers, body = excluded.body, encoding = excluded.encoding, size = excluded.size,
    expires_at = excluded.expires_at`;

const INSERT_ACCOUNT = `
  INSERT INTO idempotency_accounts (record_id, account_id) VALUES (:id, :accountId)
  ON CONFLICT (record_id) DO UPDATE SET account_id = excluded.account_id`;

const NO_BODY = { text: null, encoding: null };

/** The columns of a response. */
function recordOf({ status, headers, body }: StoredResponse) {
  const { text, encoding } = body === null ? NO_BODY : compress(body);
  const head = JSON.stringify(headers);
  const size = OVERHEAD + Buffer.byteLength(head) + Buffer.byteLength(text ?? '');
  return { status, head, text, encoding, size };
}
