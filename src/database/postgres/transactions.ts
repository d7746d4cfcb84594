import type { PoolClient } from 'pg';
import type { CheckedRunner } from '../checked-runner.js';
import type { Parameters } from '../parameters.js';
import { retryCollisions } from '../retry.js';
import type { ServiceDataSource } from '../service-data-source.js';
import { Transactions } from '../transactions.js';
import type { PostgresConnection } from './connection.js';
import type { Pipeline } from './pipeline.js';

/** The values of a short statement, in characters: to index a large text takes long. */
const MAX_SIZE = 20_000;

/** Transactions on PostgreSQL: each has its own connection of the pool. */
export class PostgresTransactions extends Transactions {
  constructor(
    source: ServiceDataSource,
    private readonly connection: PostgresConnection,
    private readonly pipeline?: Pipeline,
  ) {
    super(source);
  }

  protected executeAlone<Row>(sql: string, parameters: Parameters, isShort: boolean): Promise<Row[]> {
    const pipeline = isShort && sizeOf(parameters) <= MAX_SIZE ? this.pipeline : undefined;
    return retryCollisions(() => this.connection.all<Row>(sql, parameters, pipeline));
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

/** The characters of all texts. */
function sizeOf(parameters: Parameters): number {
  let size = 0;
  for (const value of Object.values(parameters)) if (typeof value === 'string') size += value.length;
  return size;
}
