import type { Config } from '../config/config.js';
import { PostgresConnection, poolOf } from './postgres/connection.js';
import { PostgresQueries } from './postgres/queries.js';
import { PostgresTransactions } from './postgres/transactions.js';
import type { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import type { SqliteDataSource } from './sqlite/data-source.js';
import { SqliteQueries } from './sqlite/queries.js';
import { SqliteTransactions } from './sqlite/transactions.js';
import type { Transactions } from './transactions.js';

/** The database for the services of a command, which may run next to the service. */
export interface CommandDatabase {
  readonly source: ServiceDataSource;
  readonly queries: Queries;
  readonly transactions: Transactions;
}

/** @param source of `commandDataSource`, initialized */
export function commandDatabase(
  { store }: Pick<Config, 'store'>,
  source: ServiceDataSource,
): CommandDatabase {
  if (store.kind === 'sqlite') {
    const transactions = new SqliteTransactions(source as SqliteDataSource);
    return { source, transactions, queries: new SqliteQueries(source as SqliteDataSource, transactions) };
  }
  const connection = new PostgresConnection(poolOf(source), store.preparedStatements);
  const transactions = new PostgresTransactions(source, connection);
  return { source, transactions, queries: new PostgresQueries(connection, connection, transactions, source) };
}
