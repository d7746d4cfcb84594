import type { DataSource, EntityManager } from 'typeorm';
import type { Parameters } from '../queries.js';
import { retryCollisions, Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';

/**
 * Writes on SQLite: one connection, one unit of work at a time, first come first served. Two units of
 * work on one connection would share a transaction, and one's rollback would undo the other's write.
 */
export class SqliteTransactions extends Transactions {
  private queue: Promise<unknown> = Promise.resolve();
  private readonly connection: SqliteConnection;

  constructor(private readonly writer: DataSource) {
    super();
    this.connection = new SqliteConnection(writer);
  }

  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(() => this.writer.transaction(work));
  }

  execute<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.enqueue(async () => this.connection.all<Row>(sql, parameters));
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(() => retryCollisions(work));
    this.queue = done.catch(() => undefined);
    return done;
  }
}
