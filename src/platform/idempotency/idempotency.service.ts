import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { Queries } from '../database/queries.js';
import type { Statement } from '../database/statement.js';
import { type Execute, Transactions } from '../database/transactions.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { IdempotencyRecords, type StoredResponse } from './idempotency-records.js';
import { IdempotencyScope, type KeyedRequest } from './idempotency-scope.js';

/** Rolls the transaction back when it begins, if another request has the key or has stored its response. */
const TAKEN = Symbol('taken');

/** Handles a request once, and repeats its response for retries. */
@Injectable()
export class IdempotencyService {
  /** The ids of requests in progress in this process; on PostgreSQL, those of other processes hold a lock. */
  private readonly inFlight = new Set<string>();

  /** Responses that were sent again for a key. */
  readonly replays: Counter;

  constructor(
    private readonly scope: IdempotencyScope,
    private readonly records: IdempotencyRecords,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    registry: Registry,
  ) {
    this.replays = new Counter({
      name: 'idempotency_replays_total',
      help: 'Responses that were sent again for an Idempotency-Key',
      registers: [registry],
    });
  }

  /**
   * Handles a request, unless an earlier one with its key was handled. Its transaction begins with the first write, and
   * stays open until the response is stored.
   *
   * @param work all its writes commit together with the response, or not at all. It runs again after a conflict
   * @returns the response of the earlier request, or the work, which has to be ended
   * @throws AppError `IDEMPOTENCY_KEY_IN_USE` while another request is in progress, `IDEMPOTENCY_KEY_REUSED` when
   * the key was used with another body; and the errors of `work`
   */
  async handle(request: KeyedRequest, work: () => Promise<unknown>): Promise<KeyedWork | StoredResponse> {
    const id = this.scope.idOf(request);
    const fingerprints = this.scope.fingerprintsOf(request.body);
    this.assertNotInFlight(id);
    const earlier = await this.records.find(id, fingerprints);
    if (earlier) return earlier;

    this.assertNotInFlight(id);
    this.inFlight.add(id);
    const end = () => void this.inFlight.delete(id);
    try {
      const { unit } = await this.transactions.deferred(work, claim, this.claimOf(id));
      return new KeyedWork(unit, (response) => this.records.insertion(id, fingerprints[0], response), end);
    } catch (error) {
      end();
      if (error !== TAKEN) throw error;
    }
    const theirs = await this.records.find(id, fingerprints);
    if (!theirs) throw keyInUse();
    return theirs;
  }

  /** Excludes other requests with the key until the end of the transaction, and then looks for its record. */
  private claimOf(id: string): Statement[] {
    const { dialect } = this.queries;
    const record = this.records.selection(id);
    // One writer at a time: whoever had the key has committed.
    if (dialect.hasOneProcess) return [record];
    return [{ sql: `SELECT ${dialect.tryLock(':id')} AS "isLocked"`, parameters: { id } }, record];
  }

  private assertNotInFlight(id: string): void {
    if (this.inFlight.has(id)) throw keyInUse();
  }
}

/** @throws {@link TAKEN} if another request has the key, or has stored its response meanwhile */
async function claim(_: Execute, rows: readonly any[][]): Promise<void> {
  const [lock] = rows.length > 1 ? rows[0]! : [{ isLocked: true }];
  if (!lock.isLocked || rows.at(-1)!.length > 0) throw TAKEN;
}

/** What a request with a key has done, in a transaction that is open until its response is stored. */
export class KeyedWork {
  /** @param insertion of the record of a response */
  constructor(
    private readonly unit: UnitOfWork,
    private readonly insertion: (response: StoredResponse) => readonly Statement[],
    private readonly onEnd: () => void,
  ) {}

  /** Commits with the record of the response, or rolls back. @throws also what `responseOf` throws */
  store(responseOf: () => StoredResponse): Promise<void> {
    return this.unit.commit(() => this.insertion(responseOf())).finally(this.onEnd);
  }

  async discard(): Promise<void> {
    await this.unit.rollBack(undefined).finally(this.onEnd);
  }
}

const keyInUse = () => new AppError('IDEMPOTENCY_KEY_IN_USE', ERRORS.IDEMPOTENCY_KEY_IN_USE.message);
