import { POSTGRES } from '../dialect.js';
import { type Parameters, Queries } from '../queries.js';
import type { PostgresConnection } from './connection.js';

export class PostgresQueries extends Queries {
  readonly dialect = POSTGRES;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly searches: PostgresConnection,
  ) {
    super();
  }

  all<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.connection.all<Row>(sql, parameters);
  }

  override search<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.searches.all<Row>(sql, parameters);
  }
}
