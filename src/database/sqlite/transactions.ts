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

  protected begin<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(() => this.writer.transaction(work));
  }

  protected executeAlone<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.enqueue(async () => this.connection.all<Row>(sql, parameters));
  }

  protected async executeWithin<Row>(_: EntityManager, sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.connection.all<Row>(sql, parameters);
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const asked = Date.now();
    const done = this.queue.then(() => retryCollisions(work, asked));
    this.queue = done.catch(() => undefined);
    return done;
  }
}
