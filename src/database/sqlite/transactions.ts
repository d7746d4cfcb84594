import type { DataSource, EntityManager } from 'typeorm';
import type { Parameters } from '../parameters.js';
import { DEADLINE, retryCollisions, Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';

/**
 * Writes on SQLite: one connection, one unit of work at a time, first come first served. Two units of
 * work on one connection would share a transaction, and one's rollback would undo the other's write.
 */
export class SqliteTransactions extends Transactions {
  private queue: Promise<unknown> = Promise.resolve();
  /** Units of work that are not finished yet. */
  private waiting = 0;
  private readonly connection: SqliteConnection;

  constructor(private readonly writer: DataSource) {
    super();
    this.connection = new SqliteConnection(writer);
  }

  protected begin<T>(work: (manager: EntityManager) => Promise<T>, mayRetry?: () => boolean): Promise<T> {
    return this.enqueue(() => this.writer.transaction(work), mayRetry);
  }

  protected executeAlone<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.enqueue(async () => this.connection.all<Row>(sql, parameters));
  }

  protected async executeWithin<Row>(_: EntityManager, sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.connection.all<Row>(sql, parameters);
  }

  private enqueue<T>(work: () => Promise<T>, mayRetry?: () => boolean): Promise<T> {
    const start = Date.now();
    const attempt = () => retryCollisions(work, { start, mayRetry });
    const turn = this.queue;
    // Where nobody is before it, a statement is run at once.
    const done = this.waiting === 0 ? attempt() : inTime(turn).then(attempt);
    this.waiting++;
    const finish = () => this.waiting--;
    this.queue = turn.then(() => done).then(finish, finish);
    return done;
  }
}

/** @throws Error as SQLite itself does, when others write for longer than a write is tried */
async function inTime(turn: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    timeout.reject(Object.assign(new Error('Others are still writing'), { code: 'SQLITE_BUSY' }));
  }, DEADLINE);
  await Promise.race([turn, timeout.promise]).finally(() => clearTimeout(timer));
}
