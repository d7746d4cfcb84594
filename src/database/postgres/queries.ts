import type { Pool } from 'pg';
import type { Parameters } from '../statement.js';
import { Queries } from '../queries.js';
import type { Transactions } from '../transactions.js';
import type { Replicas } from './cluster/replicas.js';
import type { PostgresDataSource } from './data-source.js';
import type { SharedReads } from './shared-reads.js';

/** Where the reads of the primary run. */
interface Pools {
  readonly searches: Pool;
  readonly shared: SharedReads | undefined;
}

export class PostgresQueries extends Queries {
  private readonly replicas: Replicas | undefined;

  constructor(
    private readonly postgres: PostgresDataSource,
    transactions: Transactions,
    private readonly pools: Pools,
  ) {
    super(transactions, postgres);
    this.replicas = postgres.cluster?.replicas;
  }

  override onReplica<T>(work: () => Promise<T>): Promise<T> {
    return this.replicas && !this.postgres.unit ? this.replicas.read(work) : work();
  }

  protected read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const { statements, driver } = this.postgres;
    const replica = this.replicas?.current;
    return replica
      ? replica.statements.all<Row>(sql, parameters, replica.main)
      : statements.all<Row>(sql, parameters, driver.master);
  }

  protected override readShort<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const { shared } = this.pools;
    return shared && !this.replicas?.current
      ? this.postgres.statements.all<Row>(sql, parameters, shared)
      : this.read<Row>(sql, parameters);
  }

  protected readSlowly<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const replica = this.replicas?.current;
    return replica
      ? replica.statements.all<Row>(sql, parameters, replica.slow)
      : this.postgres.statements.all<Row>(sql, parameters, this.pools.searches);
  }
}
