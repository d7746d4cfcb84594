import { type DynamicModule, Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource, type EntitySchema } from 'typeorm';
import { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';
import { Database } from './database.js';
import { isTemporary } from './failures.js';
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

interface Connection extends Pick<TypeOrmModuleOptions, 'retryAttempts' | 'toRetry'> {
  /** Initializes a data source. */
  readonly open: (config: Config, entities: Entities) => Promise<ServiceDataSource>;
  readonly databaseOf: (source: ServiceDataSource) => Database | Promise<Database>;
}

/**
 * Opens the database. Repositories, `EntityManager` and `DataSource` are TypeORM's, and safe for
 * everything; `Transactions` adds retries and an ambient transaction, `Queries` fast reads.
 */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  /** For the service, which waits for a database that starts at the same time. */
  static forRoot(): DynamicModule {
    const { imports = [], ...rest } = connect({
      open: openDataSource,
      databaseOf: checkedDatabase,
      retryAttempts: 15,
      toRetry: isTemporary,
    });
    return { ...rest, imports: [...imports, SubscribersModule] };
  }

  /** For a command, which may run next to the service: without migrations and signals. */
  static forCommand(): DynamicModule {
    return connect({
      open: (config, entities) => commandDataSource(config, entities).initialize(),
      databaseOf,
      toRetry: () => false,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

const connect = ({ open, databaseOf: useFactory, ...retries }: Connection): DynamicModule => ({
  module: DatabaseModule,
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Config, ModulesContainer],
      useFactory: (config: Config, modules: ModulesContainer): TypeOrmModuleOptions & Options => ({
        config,
        modules,
        autoLoadEntities: true,
        retryDelay: 1000,
        verboseRetryLog: true,
        ...retries,
      }),
      dataSourceFactory: (options) => {
        const { config, modules, entities } = options as unknown as Options & { readonly entities: Entities };
        return open(config, ownEntities(entities, modules));
      },
    }),
  ],
  providers: [
    { provide: Database, inject: [DataSource], useFactory },
    { provide: Queries, inject: [Database], useFactory: ({ queries }: Database) => queries },
    { provide: Transactions, inject: [Database], useFactory: ({ transactions }: Database) => transactions },
  ],
  exports: [Database, Queries, Transactions],
});

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
      const ran = await migrate(config);
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

/** The database of an initialized data source. */
function databaseOf(source: ServiceDataSource): Database {
  return source instanceof SqliteDataSource
    ? new SqliteDatabase(source)
    : new PostgresDatabase(source as PostgresDataSource);
}

/** Logs the faults of the schema. */
async function checkedDatabase(source: ServiceDataSource): Promise<Database> {
  const database = databaseOf(source);
  for (const { field, message } of await database.schemaFaults()) {
    new Logger('Database').error(`${field}: ${message}`);
  }
  return database;
}

/** Nest keeps the entities of `forFeature` for each process; an application has those of its own modules. */
function ownEntities(entities: Entities, modules: ModulesContainer): Entities {
  const tokens = new Set([...modules.values()].flatMap(({ providers }) => [...providers.keys()]));
  return entities.filter((entity) => tokens.has(getRepositoryToken(entity)));
}
