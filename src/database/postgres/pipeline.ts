import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { isConnectionLost } from '../failures.js';

/** A connection with statements in flight. */
interface Lane {
  readonly client: Promise<PoolClient>;
  inFlight: number;
  /** Whether it is closed after the statements in flight. */
  isFaulty: boolean;
  /** When it was taken from the pool, or had its last result; in milliseconds. */
  movedAt: number;
}

/** How many statements a connection has in flight at most. */
const DEPTH = 8;

/** A connection without a result for so long gets no more statements, in milliseconds: one may wait for a lock. */
const STALL = 20;

/** After so long, a statement that was not short is not repeated, in milliseconds. */
const MAX_REPEATED = 700;

/** PostgreSQL's codes for a timeout of a statement and of a lock. */
const CANCELED = '57014';
const LOCKED = '55P03';

/** Its name is unknown, or taken: a statement of the same name before it was canceled while it was being prepared. */
const NOT_PREPARED = /^(26000|42P05)$/;

/** Errors that say nothing about the connection: those above, wrong data and violated constraints. */
const HARMLESS = /^(57014|55P03|22...|23...)$/;

/**
 * Runs short reads of concurrent requests on shared connections: each is sent before the previous ones have their
 * results, and has its own error.
 *
 * Reads wait for those before them on their connection. One that takes long or waits for a lock is therefore
 * canceled, and runs again on a connection that it does not share. Writes have no place here: one that is canceled
 * would use up a number of its sequence.
 */
export class Pipeline {
  private readonly lanes = new Set<Lane>();

  /**
   * @param shared its connections have the option `pipeline` and short timeouts
   * @param pool for all other statements
   */
  constructor(
    private readonly shared: Pool,
    private readonly pool: Pool,
  ) {}

  async query(statement: QueryConfig): Promise<QueryResult> {
    const lane = this.choose();
    if (!lane) return this.pool.query(statement);
    const start = performance.now();
    try {
      return await this.send(lane, statement);
    } catch (error) {
      if (!mayRepeat(error, performance.now() - start)) throw error;
      return this.pool.query(statement);
    }
  }

  /** @returns `undefined` if no shared connection is free, or all of them have enough statements */
  private choose(): Lane | undefined {
    if (this.shared.ending) return undefined;
    const now = performance.now();
    if (hasRoom(this.shared)) {
      const lane = { client: this.shared.connect(), inFlight: 0, isFaulty: false, movedAt: now };
      this.lanes.add(lane);
      return lane;
    }
    let chosen: Lane | undefined;
    for (const lane of this.lanes)
      if (now - lane.movedAt < STALL && lane.inFlight < (chosen?.inFlight ?? DEPTH)) chosen = lane;
    return chosen;
  }

  private async send(lane: Lane, statement: QueryConfig): Promise<QueryResult> {
    let client: PoolClient | undefined;
    lane.inFlight++;
    try {
      client = await lane.client;
      return await client.query(statement);
    } catch (error) {
      lane.isFaulty ||= !client || isConnectionLost(error) || !HARMLESS.test(codeOf(error));
      throw error;
    } finally {
      lane.inFlight--;
      lane.movedAt = performance.now();
      if (lane.isFaulty || lane.inFlight === 0) this.lanes.delete(lane);
      if (lane.inFlight === 0) client?.release(lane.isFaulty);
    }
  }
}

/** Whether a connection is available at once. */
const hasRoom = ({ options, totalCount, idleCount, waitingCount }: Pool): boolean =>
  options.max - totalCount + idleCount > waitingCount;

const codeOf = (error: unknown): string => (error instanceof DatabaseError && error.code) || '';

/** Whether the statement failed because it shared a connection. @param duration in milliseconds */
function mayRepeat(error: unknown, duration: number): boolean {
  const code = codeOf(error);
  if (code === CANCELED) return duration < MAX_REPEATED;
  return code === LOCKED || NOT_PREPARED.test(code);
}
