import {
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { type DataSource, type EntitySubscriberInterface, getMetadataArgsStorage } from 'typeorm';
import { Config } from '../config/config.js';
import { Database } from './database.js';
import { openDatabase } from './open-database.js';
import { Queries } from './queries.js';
import { Transactions } from './transactions.js';

/**
 * Opens the database. Repositories, `EntityManager` and `DataSource` are TypeORM's, and safe for
 * everything; `Transactions` adds retries and an ambient transaction, `Queries` fast reads.
 */
@Global()
@Module({
  providers: [
    { provide: Database, inject: [Config], useFactory: openDatabase },
    { provide: Queries, inject: [Database], useFactory: ({ queries }: Database) => queries },
    { provide: Transactions, inject: [Database], useFactory: ({ transactions }: Database) => transactions },
  ],
  exports: [Database, Queries, Transactions],
})
class ConnectionModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    private readonly modules: ModuleRef,
  ) {}

  /** Registers every `@EventSubscriber()`, unless it has registered itself. */
  onApplicationBootstrap(): void {
    const { subscribers } = this.database.source;
    for (const { target } of getMetadataArgsStorage().entitySubscribers) {
      if (subscribers.some((subscriber) => subscriber.constructor === target)) continue;
      const provided = this.find(target);
      // A subscriber with parameters is a provider of a module that this application does not import.
      if (provided ?? target.length === 0) subscribers.push(provided ?? Reflect.construct(target, []));
    }
  }

  private find(target: Function): EntitySubscriberInterface | undefined {
    try {
      return this.modules.get<EntitySubscriberInterface>(target, { strict: false });
    } catch {
      return undefined;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

@Module({
  imports: [
    ConnectionModule,
    TypeOrmModule.forRootAsync({
      inject: [Database],
      // The factory below has no injection, so the open connection is passed in its options.
      useFactory: ({ source }: Database) => ({ source }) as TypeOrmModuleOptions,
      dataSourceFactory: async (options) => (options as { source?: DataSource }).source!,
    }),
  ],
})
export class DatabaseModule {}
