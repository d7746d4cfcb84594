import { SQLITE } from '../dialect.js';
import type { Parameters } from '../parameters.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import type { SqliteConnection } from './connection.js';

export class SqliteQueries extends Queries {
  readonly dialect = SQLITE;

  constructor(
    private readonly reader: SqliteConnection,
    transactions: Transactions,
  ) {
    super(transactions);
  }

  protected async read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.reader.all<Row>(sql, parameters);
  }
}
