import {
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { Database } from './database.js';
import { isOutage } from './failures.js';
import { type Entities, ownEntities } from './entities.js';
import { databaseOf, openDataSource } from './open-database.js';
import { Queries } from './queries.js';
import { registerSubscribers } from './subscribers.js';
import { Transactions } from './transactions.js';

/** What the options of TypeORM pass to the factory of the data source, which has no injection. */
interface Options {
  readonly config: Config;
  readonly modules: ModulesContainer;
}

/**
 * Opens the database. Repositories, `EntityManager` and `DataSource` are TypeORM's, and safe for
 * everything; `Transactions` adds retries and an ambient transaction, `Queries` fast reads.
 */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forRootAsync({
      inject: [Config, ModulesContainer],
      useFactory: (config: Config, modules: ModulesContainer): TypeOrmModuleOptions & Options => ({
        config,
        modules,
        autoLoadEntities: true,
        // The service waits for a database that starts at the same time.
        retryAttempts: 15,
        retryDelay: 1000,
        verboseRetryLog: true,
        toRetry: isOutage,
      }),
      dataSourceFactory: (options) => {
        const {
          config,
          modules,
          entities = [],
        } = options as unknown as Options & { readonly entities?: Entities };
        return openDataSource(config, ownEntities(entities, modules));
      },
    }),
  ],
  providers: [
    { provide: Database, inject: [DataSource], useFactory: databaseOf },
    { provide: Queries, inject: [Database], useFactory: ({ queries }: Database) => queries },
    { provide: Transactions, inject: [Database], useFactory: ({ transactions }: Database) => transactions },
  ],
  exports: [Database, Queries, Transactions],
})
export class DatabaseModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    private readonly discovery: DiscoveryService,
  ) {}

  onApplicationBootstrap(): void {
    registerSubscribers(this.database.source, this.discovery);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
