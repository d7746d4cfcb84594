import type { Parameters } from '../statement.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import { hideValues, SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';

export class SqliteQueries extends Queries {
  private readonly reader: SqliteConnection;

  constructor(
    private readonly sqlite: SqliteDataSource,
    transactions: Transactions,
  ) {
    super(transactions, sqlite);
    this.reader = new SqliteConnection(() => sqlite.driver.reader, sqlite.explain);
  }

  protected async read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.reader.all<Row>(sql, parameters);
  }

  protected async readSlowly<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    // A thread may open the file again.
    this.sqlite.driver.checkFiles();
    return this.sqlite.threads.all<Row>(hideValues(sql), parameters);
  }
}
