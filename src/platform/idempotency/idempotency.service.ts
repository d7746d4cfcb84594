import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { currentActor } from '../http/request-context.js';
import { Clock } from '../jobs/clock.js';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { readOrRemove } from '../operations/metrics.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Queries } from '../database/queries.js';
import type { Statement } from '../database/statement.js';
import { Transactions } from '../database/transactions.js';
import { compress, expand, type StoredText } from './compressed-text.js';
import type { Fingerprints } from './idempotency-scope.js';
import type { Outcome, StoredResponse } from './pending-response.js';

/** How long a response is stored, in milliseconds: 24 hours. */
const LIFETIME = 24 * 60 * 60_000;

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

/** Rolls the transaction back when it begins, if another request has the key or has stored its response. */
const TAKEN = Symbol('taken');

/** Handles a request once, and repeats its response for retries. */
@Injectable()
export class IdempotencyService {
  /** The ids of requests in progress in this process; on PostgreSQL, those of other processes hold a lock. */
  private readonly inFlight = new Set<string>();

  /** Responses that were sent again for a key. */
  readonly replays: Counter;

  /** The size of all records in bytes: as last read, and what this process has added since. */
  private usage = 0;
  private usageAt = 0;

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly config: Config,
    registry: Registry,
    database: Database,
  ) {
    const registers = [registry];
    this.replays = new Counter({
      name: 'idempotency_replays_total',
      help: 'Responses that were sent again for an Idempotency-Key',
      registers,
    });
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

  /**
   * Handles a request, unless an earlier one with its key was handled: then it gets the same response.
   *
   * @param handle all its writes commit together with the record, or not at all
   * @throws AppError `IDEMPOTENCY_KEY_IN_USE` while another request is in progress, `IDEMPOTENCY_KEY_REUSED` when
   * the key was used with another body, `SERVICE_UNAVAILABLE` while the records use all of their space; and the errors
   * of `handle`, which are not stored
   */
  async once(
    id: string,
    fingerprints: Fingerprints,
    handle: () => Promise<StoredResponse>,
  ): Promise<Outcome> {
    this.assertNotInFlight(id);
    const earlier = await this.find(id, fingerprints);
    if (earlier) return { response: earlier, isReplayed: true };

    this.assertNotInFlight(id);
    this.inFlight.add(id);
    try {
      return { response: await this.handle(id, fingerprints, handle), isReplayed: false };
    } catch (error) {
      if (error !== TAKEN) throw error;
    } finally {
      this.inFlight.delete(id);
    }
    const theirs = await this.find(id, fingerprints);
    if (!theirs) throw keyInUse();
    return { response: theirs, isReplayed: true };
  }

  /** @throws AppError `IDEMPOTENCY_KEY_REUSED` when the key was used with another body */
  private async find(id: string, fingerprints: Fingerprints): Promise<StoredResponse | undefined> {
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

  /** @throws {@link TAKEN} if another request has the key, or has stored its response meanwhile */
  private async handle(
    id: string,
    fingerprints: Fingerprints,
    handle: () => Promise<StoredResponse>,
  ): Promise<StoredResponse> {
    await this.assertNotFull();
    let size = 0;
    const response = await this.transactions.deferred(handle, {
      // Excludes other requests with this key until the end of the transaction.
      lock: id,
      first: {
        sql: 'SELECT id FROM idempotency_records WHERE id = :id AND expires_at > :now',
        parameters: { id, now: this.clock.now().toISOString() },
      },
      check: (records) => {
        const isInProgress = records === undefined;
        if (isInProgress || records.length > 0) throw TAKEN;
      },
      last: (made) => {
        const record = recordOf(made);
        size = record.size;
        return this.insertion(id, fingerprints[0], record);
      },
    });
    this.usage += size;
    return response;
  }

  private assertNotInFlight(id: string): void {
    if (this.inFlight.has(id)) throw keyInUse();
  }

  private async assertNotFull(): Promise<void> {
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

  private insertion(id: string, fingerprint: string, record: ReturnType<typeof recordOf>): Statement[] {
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIME).toISOString();
    const parameters = { id, fingerprint, ...record, expiresAt };
    // The caller, or the account that a registration has created: its erasure also deletes the record.
    const accountId = currentActor();
    if (accountId === undefined) return [{ sql: INSERT, parameters }];
    return [
      { sql: INSERT, parameters },
      { sql: INSERT_ACCOUNT, parameters: { id, accountId } },
    ];
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

const keyInUse = () => new AppError('IDEMPOTENCY_KEY_IN_USE', ERRORS.IDEMPOTENCY_KEY_IN_USE.message);
