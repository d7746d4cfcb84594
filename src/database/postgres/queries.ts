import type { Pool } from 'pg';
import type { Parameters } from '../statement.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import type { PostgresDataSource } from './data-source.js';
import type { SharedReads } from './shared-reads.js';

/** Where reads run. */
interface Pools {
  readonly searches: Pool;
  readonly shared: SharedReads | undefined;
}

export class PostgresQueries extends Queries {
  constructor(
    private readonly postgres: PostgresDataSource,
    transactions: Transactions,
    private readonly pools: Pools,
  ) {
    super(transactions, postgres);
  }

  protected read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const { statements, driver } = this.postgres;
    return statements.all<Row>(sql, parameters, driver.master);
  }

  protected override readShort<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const { shared } = this.pools;
    return shared
      ? this.postgres.statements.all<Row>(sql, parameters, shared)
      : this.read<Row>(sql, parameters);
  }

  protected readSlowly<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.postgres.statements.all<Row>(sql, parameters, this.pools.searches);
  }
}
