import { SQLITE } from '../dialect.js';
import type { Parameters } from '../parameters.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';

export class SqliteQueries extends Queries {
  readonly dialect = SQLITE;

  private readonly reader: SqliteConnection;

  constructor(source: SqliteDataSource, transactions: Transactions) {
    super(transactions, source);
    this.reader = new SqliteConnection(() => source.reader);
  }

  protected async read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.reader.all<Row>(sql, parameters);
  }
}
