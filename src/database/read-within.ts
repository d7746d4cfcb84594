import type { DataSource } from 'typeorm';
import type { Transactions } from './transactions.js';

/**
 * Has the repositories of a data source read within the unit of work that is under way: they see what it has
 * written, and on PostgreSQL take no second connection, for which a full pool would have them wait in vain.
 */
export function readWithin(transactions: Transactions, source: DataSource): void {
  const createQueryRunner = source.createQueryRunner.bind(source);
  source.createQueryRunner = (mode) => transactions.queryRunner ?? createQueryRunner(mode);
}
