import type { PoolClient } from 'pg';
import type { CheckedRunner } from '../checked-runner.js';
import type { Parameters } from '../parameters.js';
import { retryCollisions } from '../retry.js';
import type { ServiceDataSource } from '../service-data-source.js';
import { Transactions } from '../transactions.js';
import type { PostgresConnection } from './connection.js';

/** Transactions on PostgreSQL: each has its own connection of the pool. */
export class PostgresTransactions extends Transactions {
  constructor(
    source: ServiceDataSource,
    private readonly connection: PostgresConnection,
  ) {
    super(source);
  }

  protected executeAlone<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    return retryCollisions(() => this.connection.all<Row>(sql, parameters));
  }

  protected async executeWithin<Row>(
    runner: CheckedRunner,
    sql: string,
    parameters: Parameters,
  ): Promise<Row[]> {
    const client = (await runner.connect()) as PoolClient;
    const { rows, rowCount } = await this.connection.run(sql, parameters, client);
    runner.noteRows(sql, rowCount ?? 0);
    return rows as Row[];
  }
}
