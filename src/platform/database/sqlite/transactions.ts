import type { Parameters } from '../statement.js';
import { Transactions } from '../transactions.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import type { SqliteDataSource } from './data-source.js';
import type { SqliteQueryRunner } from './driver.js';

/** Transactions on SQLite, on the one connection that writes. Concurrent ones commit together, see `WriteQueue`. */
export class SqliteTransactions extends Transactions {
  constructor(private readonly sqlite: SqliteDataSource) {
    super(sqlite);
  }

  /** Units of work end soon: they only read and write the database, and a deferred one ends with its response. */
  protected override newRunner(): ServiceQueryRunner {
    return Object.assign(super.newRunner() as SqliteQueryRunner, { sharesCommit: true });
  }

  protected autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    const { queue, writing } = this.sqlite.driver;
    return queue.write(() => writing.all<Row>(sql, parameters));
  }
}
