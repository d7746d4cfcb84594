import { Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource, type EntitySchema } from 'typeorm';
import { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';
import { Database } from './database.js';
import { DatabaseError, isTemporary } from './failures.js';
import { migrate } from './migrate.js';
import { PostgresDataSource } from './postgres/data-source.js';
import { PostgresDatabase } from './postgres/database.js';
import { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import { SqliteDataSource } from './sqlite/data-source.js';
import { SqliteDatabase } from './sqlite/database.js';
import { lockForService } from './sqlite/file-lock.js';
import { SubscribersModule } from './subscribers.module.js';
import { Transactions } from './transactions.js';

type Entities = (Function | EntitySchema)[];

/** What the options of TypeORM pass to the factory of the data source, which has no injection. */
interface Options {
  readonly config: Config;
  readonly modules: ModulesContainer;
}

/**
 * Opens the database. Repositories, `EntityManager` and `DataSource` are TypeORM's, and safe for
 * everything; `Transactions` adds retries and an ambient transaction, `Queries` fast reads.
 */
@Module({
  imports: [
    SubscribersModule,
    TypeOrmModule.forRootAsync({
      inject: [Config, ModulesContainer],
      useFactory: (config: Config, modules: ModulesContainer): TypeOrmModuleOptions & Options => ({
        config,
        modules,
        autoLoadEntities: true,
        manualInitialization: !config.usesDatabase,
        retryDelay: 1000,
        verboseRetryLog: true,
        retryAttempts: 15,
        // The service waits for a database that starts at the same time.
        toRetry: (error) => config.serves && isTemporary(error),
      }),
      dataSourceFactory: async (options) => {
        const { config, modules, entities } = options as unknown as Options & { readonly entities: Entities };
        const own = ownEntities(entities, modules);
        return config.serves ? openDataSource(config, own) : commandDataSource(config, own);
      },
    }),
  ],
  providers: [
    { provide: Database, inject: [DataSource, Config], useFactory: openDatabase },
    { provide: Queries, inject: [Database], useFactory: ({ queries }: Database) => queries },
    { provide: Transactions, inject: [Database], useFactory: ({ transactions }: Database) => transactions },
  ],
  exports: [Database, Queries, Transactions],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

/**
 * Opens the configured database for the service, and migrates it first, unless the configuration disables that.
 *
 * @throws DatabaseError if the service cannot use it
 */
async function openDataSource(config: Config, entities: Entities): Promise<ServiceDataSource> {
  const { store } = config;
  const lock = store.kind === 'sqlite' ? lockForService(store) : undefined;
  try {
    if (config.migrateAtStart) {
      const ran = await migrate(config, entities);
      if (ran.length > 0) new Logger('Database').log(`Migrations run: ${ran.join(', ')}`);
    }
    const source =
      store.kind === 'sqlite'
        ? new SqliteDataSource(store, entities, { lock })
        : new PostgresDataSource(store, entities);
    return await source.initialize();
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** The database of an initialized data source. The service logs the faults of its schema. */
async function openDatabase(source: ServiceDataSource, { serves }: Config): Promise<Database> {
  rejectSharedTables(source);
  const database =
    source instanceof SqliteDataSource ? new SqliteDatabase(source) : new PostgresDatabase(source);
  const faults = serves ? await database.schemaFaults() : [];
  for (const { field, message } of faults) new Logger('Database').error(`${field}: ${message}`);
  return database;
}

/** @throws DatabaseError if two entities have the same table: each would write without the rules of the other */
function rejectSharedTables({ entityMetadatas }: ServiceDataSource): void {
  const owners = new Map<string, string>();
  for (const { name, tableName, tableType } of entityMetadatas) {
    const owner = owners.get(tableName);
    if (owner !== undefined && tableType === 'regular')
      throw new DatabaseError(
        `The entities ${owner} and ${name} have the same table, ${tableName}; rename one`,
      );
    owners.set(tableName, name);
  }
}

/** Nest keeps the entities of `forFeature` for each process; an application has those of its own modules. */
function ownEntities(entities: Entities, modules: ModulesContainer): Entities {
  const tokens = new Set([...modules.values()].flatMap(({ providers }) => [...providers.keys()]));
  return entities.filter((entity) => tokens.has(getRepositoryToken(entity)));
}
