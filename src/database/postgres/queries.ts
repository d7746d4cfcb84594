import { POSTGRES } from '../dialect.js';
import type { Parameters } from '../parameters.js';
import { Queries } from '../queries.js';
import type { ServiceDataSource } from '../service-data-source.js';
import type { Transactions } from '../transactions.js';
import type { PostgresConnection } from './connection.js';

export class PostgresQueries extends Queries {
  readonly dialect = POSTGRES;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly searches: PostgresConnection,
    transactions: Transactions,
    source: ServiceDataSource,
  ) {
    super(transactions, source);
  }

  protected read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.connection.all<Row>(sql, parameters);
  }

  protected readPatiently<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.searches.all<Row>(sql, parameters);
  }
}
