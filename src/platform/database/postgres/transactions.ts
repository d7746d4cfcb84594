import { retryConflicts } from '../failures.js';
import type { Parameters } from '../statement.js';
import { Transactions } from '../transactions.js';
import type { PostgresDataSource } from './data-source.js';

/** Transactions on PostgreSQL: each has its own connection of the pool. */
export class PostgresTransactions extends Transactions {
  constructor(private readonly postgres: PostgresDataSource) {
    super(postgres);
  }

  protected autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    const { statements, driver } = this.postgres;
    return retryConflicts(() => statements.all<Row>(sql, parameters, driver.master));
  }
}
