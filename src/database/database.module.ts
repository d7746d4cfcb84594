import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { Database } from './database.js';
import { openDatabase } from './open-database.js';
import { Queries } from './queries.js';
import { Transactions } from './transactions.js';

/**
 * Opens the database once and hands out its three faces: repositories (`@InjectRepository`) and `Queries`
 * to read, `Transactions` to write.
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
class ConnectionModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

@Module({
  imports: [
    ConnectionModule,
    TypeOrmModule.forRootAsync({
      inject: [Database],
      // The factory below is not injected into, so the open connection travels with its options.
      useFactory: ({ source }: Database) => ({ source }) as TypeOrmModuleOptions,
      dataSourceFactory: async (options) => (options as { source?: DataSource }).source!,
    }),
  ],
})
export class DatabaseModule {}
