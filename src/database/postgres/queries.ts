import { POSTGRES } from '../dialect.js';
import type { Parameters } from '../parameters.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import type { PostgresConnection } from './connection.js';

export class PostgresQueries extends Queries {
  readonly dialect = POSTGRES;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly searches: PostgresConnection,
    transactions: Transactions,
  ) {
    super(transactions);
  }

  protected read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.connection.all<Row>(sql, parameters);
  }

  protected override readPatiently<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.searches.all<Row>(sql, parameters);
  }
}
