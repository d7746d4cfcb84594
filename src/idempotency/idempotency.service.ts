import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock/clock.js';
import { AppError } from '../common/errors/errors.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import type { StoredResponse } from './stored-response.js';

/** How long an answer is kept, in milliseconds: 24 hours. */
const LIFETIME = 24 * 60 * 60_000;

interface Row {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: string;
  readonly body: string | null;
}

/** Thrown where another request has the record, to take back what this one has done. */
const TAKEN = Symbol('taken');

/** What came of a request, or of the one with the same key that was faster. */
export interface Outcome {
  readonly response: StoredResponse;
  readonly isReplayed: boolean;
}

/** Handles a request once, and gives its answer again when it comes again. */
@Injectable()
export class IdempotencyService {
  /** Records that requests of this process are about to make; another process is met in the database. */
  private readonly inFlight = new Set<string>();

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * The answer on record, if there is one.
   *
   * @throws AppError `IDEMPOTENCY_KEY_IN_USE` while another request is at it, `IDEMPOTENCY_KEY_REUSED` when
   * the record is that of another body
   */
  async find(id: string, fingerprint: string): Promise<StoredResponse | undefined> {
    this.refuseInFlight(id);
    const row = await this.queries.one<Row>(
      'SELECT fingerprint, status, headers, body FROM idempotency_records WHERE id = :id AND expires_at > :now',
      { id, now: this.clock.now().toISOString() },
    );
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) {
      throw new AppError('IDEMPOTENCY_KEY_REUSED', 'The Idempotency-Key was used with another body');
    }
    return { status: row.status, headers: JSON.parse(row.headers), body: row.body };
  }

  /**
   * Handles a request, unless another has been faster: then it is answered as that one.
   *
   * @param handle what it writes by `Transactions` commits together with the record, or not at all
   * @throws AppError as {@link find}; and whatever `handle` throws, which is not recorded
   */
  async once(id: string, fingerprint: string, handle: () => Promise<StoredResponse>): Promise<Outcome> {
    this.refuseInFlight(id);
    this.inFlight.add(id);
    try {
      const response = await this.transactions.lazily(handle, {
        atBegin: () => this.claim(id, fingerprint),
        atEnd: (made) => this.save(id, made),
      });
      return { response, isReplayed: false };
    } catch (error) {
      if (error !== TAKEN) throw error;
    } finally {
      this.inFlight.delete(id);
    }
    const theirs = await this.find(id, fingerprint);
    if (!theirs) throw keyInUse();
    return { response: theirs, isReplayed: true };
  }

  private refuseInFlight(id: string): void {
    if (this.inFlight.has(id)) throw keyInUse();
  }

  /**
   * Takes the record, unless somebody is at it or has made it. With the lock nobody can be making it, so the
   * index never waits, and sees one that was made just now; nobody sees ours before the commit.
   */
  private async claim(id: string, fingerprint: string): Promise<void> {
    const now = this.clock.now();
    const claimed = await this.transactions.execute(
      `INSERT INTO idempotency_records (id, fingerprint, status, headers, expires_at)
       SELECT :id, :fingerprint, 0, '', :expiresAt WHERE ${this.queries.dialect.tryLock(':id')}
       ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, expires_at = excluded.expires_at
       WHERE idempotency_records.expires_at <= :now
       RETURNING id`,
      {
        id,
        fingerprint,
        expiresAt: new Date(now.getTime() + LIFETIME).toISOString(),
        now: now.toISOString(),
      },
    );
    if (claimed.length === 0) throw TAKEN;
  }

  private async save(id: string, { status, headers, body }: StoredResponse): Promise<void> {
    await this.transactions.execute(
      'UPDATE idempotency_records SET status = :status, headers = :headers, body = :body WHERE id = :id',
      { id, status, headers: JSON.stringify(headers), body },
    );
  }
}

const keyInUse = () =>
  new AppError('IDEMPOTENCY_KEY_IN_USE', 'A request with this Idempotency-Key is still being answered');
