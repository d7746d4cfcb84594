import type { Pool } from 'pg';
import type { Parameters } from '../statement.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import type { PostgresDataSource } from './data-source.js';

export class PostgresQueries extends Queries {
  /** @param searches the connections for slow reads */
  constructor(
    private readonly postgres: PostgresDataSource,
    transactions: Transactions,
    private readonly searches: Pool,
  ) {
    super(transactions, postgres);
  }

  protected read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const { statements, driver } = this.postgres;
    return statements.all<Row>(sql, parameters, driver.master);
  }

  protected readSlowly<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.postgres.statements.all<Row>(sql, parameters, this.searches);
  }
}
