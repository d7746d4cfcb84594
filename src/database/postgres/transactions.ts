import type { DataSource, EntityManager } from 'typeorm';
import type { Parameters } from '../parameters.js';
import { retryCollisions, Transactions } from '../transactions.js';
import type { PostgresConnection } from './connection.js';

/** Writes on PostgreSQL: each unit of work has a connection of the pool to itself. */
export class PostgresTransactions extends Transactions {
  constructor(
    private readonly source: DataSource,
    private readonly connection: PostgresConnection,
  ) {
    super();
  }

  protected begin<T>(work: (manager: EntityManager) => Promise<T>, mayRetry?: () => boolean): Promise<T> {
    return retryCollisions(() => this.source.transaction(work), { mayRetry });
  }

  protected executeAlone<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return retryCollisions(() => this.connection.all<Row>(sql, parameters));
  }

  protected async executeWithin<Row>(
    manager: EntityManager,
    sql: string,
    parameters?: Parameters,
  ): Promise<Row[]> {
    const client = await manager.queryRunner!.connect();
    return this.connection.all<Row>(sql, parameters, client);
  }
}
