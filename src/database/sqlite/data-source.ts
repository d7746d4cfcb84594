import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { EntitySchema, MixedList, QueryRunner, ReplicationMode } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import type { SqliteStore } from '../../config/config.js';
import { migrations } from '../migrations/index.js';
import { ServiceDataSource } from '../service-data-source.js';
import { CachingConnection } from './caching-connection.js';
import type { FileLock } from './file-lock.js';
import { SqliteQueryRunner } from './query-runner.js';
import { ReaderThreads } from './reader-threads.js';
import { Turns } from './turns.js';

/** SQLite's types for the column types of `columns.ts`. */
const TYPES: Record<string, string> = { int8: 'integer', timestamptz: 'text' };

/**
 * How long a statement waits while another process writes, in milliseconds. The wait blocks the event loop,
 * so it is short in a service (`retryCollisions` retries); in a command it may be long.
 */
const BUSY_TIMEOUT = { service: 5, command: 30_000 };

/** The current time as TypeORM stores dates here: in UTC, with milliseconds. */
const NOW = `strftime('%Y-%m-%d %H:%M:%f', 'now')`;

export const databaseFile = ({ directory }: SqliteStore): string => join(directory, 'database.sqlite');

/** Whether the file has a database; an empty one has none yet. */
export const hasDatabase = (store: SqliteStore): boolean =>
  (statSync(databaseFile(store), { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The embedded database: TypeORM's connection, which writes, and a read-only connection. */
export class SqliteDataSource extends ServiceDataSource {
  readonly turns = new Turns();
  /** For slow reads. */
  readonly threads: ReaderThreads;
  private readonly openReader: () => Database.Database;
  private opened: Database.Database | undefined;

  private readonly lock: FileLock | undefined;

  /**
   * @param lock is released with the data source
   * @param forCommand lets a statement wait longer for another process
   */
  constructor(
    private readonly store: SqliteStore,
    entities: MixedList<Function | string | EntitySchema>,
    { lock, forCommand = false }: { lock?: FileLock | undefined; forCommand?: boolean } = {},
  ) {
    const timeout = forCommand ? BUSY_TIMEOUT.command : BUSY_TIMEOUT.service;
    super({
      type: 'better-sqlite3',
      driver: CachingConnection,
      database: databaseFile(store),
      entities,
      migrations,
      timeout,
      enableWAL: true,
      // The connections cache statements; a runner that begins a transaction would keep those of the read connection.
      statementCacheSize: 0,
      prepareDatabase: (connection: Database.Database) => {
        // A commit is on disk before it is acknowledged, even if the power fails.
        connection.pragma('synchronous = FULL');
        // Stops slow reads in reader threads; a read within a unit of work runs on this connection.
        connection.function('within_deadline', () => 1);
        // TypeORM uses it for `@UpdateDateColumn` and `@DeleteDateColumn`; SQLite's own function has whole seconds.
        connection.function('current_timestamp', () =>
          new Date().toISOString().slice(0, -1).replace('T', ' '),
        );
      },
    });
    this.lock = lock;
    this.threads = new ReaderThreads(databaseFile(store));
    this.openReader = () => new CachingConnection(databaseFile(store), { readonly: true, timeout });
    const { driver } = this;
    const normalizeType = driver.normalizeType.bind(driver);
    driver.normalizeType = (column) =>
      normalizeType({ ...column, type: TYPES[String(column.type)] ?? column.type } as typeof column);
    driver.mappedDataTypes.createDateDefault = NOW;
    driver.mappedDataTypes.updateDateDefault = NOW;
  }

  override initialize(): Promise<this> {
    makePrivate(databaseFile(this.store));
    return super.initialize();
  }

  /** The connection for reads. */
  get reader(): Database.Database {
    return (this.opened ??= this.openReader());
  }

  /** The connection for writes, for the holder of the turn. */
  get writer(): Database.Database {
    return (this.driver as BetterSqlite3Driver).databaseConnection;
  }

  override async destroy(): Promise<void> {
    await this.threads.close();
    await super.destroy();
    this.opened?.close();
    this.opened = undefined;
    this.lock?.release();
  }

  protected override newRunner(mode: ReplicationMode): QueryRunner {
    const reader = mode === 'slave' ? this.reader : undefined;
    return new SqliteQueryRunner(this.driver as BetterSqlite3Driver, this.turns, reader);
  }
}

/** Makes the file readable for its owner only; SQLite's other files inherit that, even in a folder of wider access. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // On a volume of a group, the file may have another owner, who decides about its access. From a read-only disk,
    // the service can still read.
    if (code !== 'EPERM' && !(code === 'EROFS' && existsSync(file))) throw error;
  }
}
