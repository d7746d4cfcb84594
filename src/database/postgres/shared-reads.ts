import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { isConnectionLost } from '../failures.js';

/** A connection with statements in flight. */
interface SharedConnection {
  readonly client: Promise<PoolClient>;
  inFlight: number;
  /** Whether it is closed after the statements in flight. */
  isFaulty: boolean;
  /** When it was taken from the pool, or had its last result; in milliseconds. */
  progressedAt: number;
}

/** A connection of the pool, which the read does not share. */
const UNSHARED = 'unshared';

/** Starts a read that has waited for a connection. */
type Waiting = (connection: SharedConnection | typeof UNSHARED) => void;

/** How many statements a connection has in flight at most. */
const DEPTH = 8;

/** A connection without a result for so long gets no more statements, in milliseconds: one may wait for a lock. */
const STALL = 20;

/** After so long, a statement that was not short is not repeated, in milliseconds. */
const MAX_REPEATED = 700;

/** How many statements that were too slow are repeated at a time: a slow server must not get twice the work. */
const REPEATS = 2;

/** How long a read waits for a connection, in milliseconds: as long as in the pool. */
const WAIT = 2000;

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
 * canceled, and runs again on a connection that it does not share, unless too many others do: then it fails with the
 * error, which becomes a 503. Writes have no place here: one that is canceled would use up a number of its sequence.
 */
export class SharedReads {
  private readonly connections = new Set<SharedConnection>();
  /** Reads that cannot share a connection leave half of the pool to everything else. */
  private readonly maxUnshared: number;
  private unshared = 0;
  private repeats = 0;
  /** Reads that wait for any connection, and those that wait for one that they do not share; the oldest first. */
  private readonly waiting: Waiting[] = [];
  private readonly waitingUnshared: Waiting[] = [];

  /**
   * @param shared its connections have the option `pipeline` and short timeouts
   * @param pool for all other statements
   */
  constructor(
    private readonly shared: Pool,
    private readonly pool: Pool,
  ) {
    this.maxUnshared = Math.max(1, Math.floor(pool.options.max / 2));
  }

  /** @throws Error `READ_TIMEOUT` if no connection is free for two seconds */
  async query(statement: QueryConfig): Promise<QueryResult> {
    const connection = this.reserve() ?? this.reserveUnshared() ?? (await wait(this.waiting));
    if (connection === UNSHARED) return this.runUnshared(statement);
    const start = performance.now();
    try {
      return await this.send(connection, statement);
    } catch (error) {
      const code = codeOf(error);
      if (code === LOCKED || NOT_PREPARED.test(code)) return this.runAgain(statement);
      if (code !== CANCELED || performance.now() - start > MAX_REPEATED || this.repeats >= REPEATS)
        throw error;
      this.repeats++;
      return await this.runAgain(statement).finally(() => this.repeats--);
    }
  }

  private async runAgain(statement: QueryConfig): Promise<QueryResult> {
    if (!this.reserveUnshared()) await wait(this.waitingUnshared);
    return this.runUnshared(statement);
  }

  /** @returns `undefined` if no shared connection is free, or all of them have enough statements */
  private reserve(): SharedConnection | undefined {
    if (this.shared.ending) return undefined;
    const now = performance.now();
    let chosen: SharedConnection | undefined;
    if (hasRoom(this.shared)) {
      chosen = { client: this.shared.connect(), inFlight: 0, isFaulty: false, progressedAt: now };
      this.connections.add(chosen);
    } else {
      for (const each of this.connections)
        if (now - each.progressedAt < STALL && each.inFlight < (chosen?.inFlight ?? DEPTH)) chosen = each;
    }
    if (chosen) chosen.inFlight++;
    return chosen;
  }

  private reserveUnshared(): typeof UNSHARED | undefined {
    if (this.unshared >= this.maxUnshared) return undefined;
    this.unshared++;
    return UNSHARED;
  }

  private async runUnshared(statement: QueryConfig): Promise<QueryResult> {
    try {
      return await this.pool.query(statement);
    } finally {
      this.unshared--;
      this.wake();
    }
  }

  private async send(connection: SharedConnection, statement: QueryConfig): Promise<QueryResult> {
    let client: PoolClient | undefined;
    try {
      client = await connection.client;
      return await client.query(statement);
    } catch (error) {
      connection.isFaulty ||= !client || isConnectionLost(error) || !HARMLESS.test(codeOf(error));
      throw error;
    } finally {
      connection.inFlight--;
      connection.progressedAt = performance.now();
      if (connection.isFaulty || connection.inFlight === 0) this.connections.delete(connection);
      if (connection.inFlight === 0) client?.release(connection.isFaulty);
      this.wake();
    }
  }

  private wake(): void {
    while (this.waitingUnshared.length > 0 && this.reserveUnshared()) this.waitingUnshared.shift()!(UNSHARED);
    while (this.waiting.length > 0) {
      const connection = this.reserve() ?? this.reserveUnshared();
      if (!connection) return;
      this.waiting.shift()!(connection);
    }
  }
}

/** Whether a connection is available at once. */
const hasRoom = ({ options, totalCount, idleCount, waitingCount }: Pool): boolean =>
  options.max - totalCount + idleCount > waitingCount;

const codeOf = (error: unknown): string => (error instanceof DatabaseError && error.code) || '';

/** Waits for a connection, first come, first served. */
function wait(queue: Waiting[]): Promise<SharedConnection | typeof UNSHARED> {
  return new Promise((resolve, reject) => {
    const start = (connection: SharedConnection | typeof UNSHARED) => {
      clearTimeout(timer);
      resolve(connection);
    };
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(start), 1);
      reject(
        Object.assign(new Error('Too many reads are waiting for a connection'), { code: 'READ_TIMEOUT' }),
      );
    }, WAIT);
    queue.push(start);
  });
}
