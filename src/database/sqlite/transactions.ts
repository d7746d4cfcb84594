import type { Parameters } from '../parameters.js';
import { type Statement, Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';
import { GroupCommit } from './group-commit.js';

/** Transactions on SQLite, on the single writing connection, one at a time. */
export class SqliteTransactions extends Transactions {
  private readonly connection: SqliteConnection;
  private readonly group: GroupCommit;

  constructor(source: SqliteDataSource) {
    super(source);
    const { driver } = source;
    this.connection = new SqliteConnection(() => driver.databaseConnection);
    this.group = new GroupCommit(this.connection, driver.mutex);
  }

  protected autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    return this.group.run(() => this.connection.all<Row>(sql, parameters));
  }

  /** Synchronous work joins the group; TypeORM's transactions wait at each step, which is six times as slow. */
  protected override autocommitBoth<Row>(
    { sql, parameters }: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    return this.group.run(() => {
      const rows = this.connection.all<Row>(sql, parameters);
      const next = following(rows);
      if (next) this.connection.all(next.sql, next.parameters);
      return rows;
    });
  }
}
