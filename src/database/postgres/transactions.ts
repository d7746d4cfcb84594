import type { Parameters } from '../parameters.js';
import { retryCollisions } from '../retry.js';
import type { ServiceDataSource } from '../service-data-source.js';
import { Transactions } from '../transactions.js';
import { compile, type PostgresConnection } from './connection.js';

/** Writes on PostgreSQL: each transaction has a connection of the pool to itself. */
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

  protected compile(sql: string, parameters: Parameters): { text: string; values: unknown[] } {
    const { text, names } = compile(sql);
    return { text, values: names.map((name) => parameters[name]) };
  }
}
