import { Global, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';
import { type Entities, ownEntities } from './entities.js';
import { PostgresConnection, poolOf } from './postgres/connection.js';
import { PostgresQueries } from './postgres/queries.js';
import { PostgresTransactions } from './postgres/transactions.js';
import { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import { SqliteDataSource } from './sqlite/data-source.js';
import { SqliteQueries } from './sqlite/queries.js';
import { SqliteTransactions } from './sqlite/transactions.js';
import { Transactions } from './transactions.js';

/** The database for a command, which may run next to the service. */
export abstract class CommandDatabase {
  abstract readonly queries: Queries;
  abstract readonly transactions: Transactions;
}

/** Opens the database for a command: without migrations, replicas and signals, and with more patience. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Config, ModulesContainer],
      useFactory: (config: Config, modules: ModulesContainer) =>
        ({ config, modules, autoLoadEntities: true, retryAttempts: 0 }) as TypeOrmModuleOptions,
      // The factory has no injection, so these are passed in its options.
      dataSourceFactory: (options) => {
        const { config, modules, entities } = options as unknown as {
          readonly config: Config;
          readonly modules: ModulesContainer;
          readonly entities?: Entities;
        };
        return commandDataSource(config, ownEntities(entities ?? [], modules)).initialize();
      },
    }),
  ],
  providers: [
    { provide: CommandDatabase, inject: [Config, DataSource], useFactory: databaseOf },
    {
      provide: Queries,
      inject: [CommandDatabase],
      useFactory: (database: CommandDatabase) => database.queries,
    },
    {
      provide: Transactions,
      inject: [CommandDatabase],
      useFactory: (database: CommandDatabase) => database.transactions,
    },
  ],
  exports: [CommandDatabase, Queries, Transactions],
})
export class CommandDatabaseModule {}

function databaseOf({ store }: Config, source: ServiceDataSource): CommandDatabase {
  if (source instanceof SqliteDataSource) {
    const transactions = new SqliteTransactions(source);
    return { transactions, queries: new SqliteQueries(source, transactions) };
  }
  const prepared = store.kind === 'postgres' && store.preparedStatements;
  const connection = new PostgresConnection(poolOf(source), prepared);
  const transactions = new PostgresTransactions(source, connection);
  return { transactions, queries: new PostgresQueries(connection, connection, transactions, source) };
}
