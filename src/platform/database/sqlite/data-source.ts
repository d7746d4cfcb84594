import { statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { EntitySchema, MixedList } from 'typeorm';
import type { SqliteStore } from '../../config/config.js';
import { makeFilePrivate } from '../../config/data-folder.js';
import { SQLITE } from '../dialect.js';
import { ServiceDataSource } from '../service-data-source.js';
import type { StatementParameters } from '../statement.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import { hideValues, SqliteConnection } from './connection.js';
import { CachingConnection, SqliteDriver, type SqliteQueryRunner } from './driver.js';
import type { FileLock } from './file-lock.js';
import { OpenedFiles } from './opened-files.js';
import { ReaderThreads } from './reader-threads.js';

/**
 * How long a statement waits while another process writes, in milliseconds. The wait blocks the event loop,
 * so it is short in a service (`retryConflicts` retries); in a command it may be long.
 */
const BUSY_TIMEOUT = { service: 5, command: 30_000 };

/** The size to which the write-ahead log shrinks when it is written from its start again, in bytes. */
const LOG_LIMIT = 8 * 1024 * 1024;

export const databaseFile = ({ directory }: SqliteStore): string => join(directory, 'database.sqlite');

/** Whether the file has a database; an empty one has none yet. */
export const hasDatabase = (store: SqliteStore): boolean =>
  (statSync(databaseFile(store), { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The embedded database: TypeORM's connection, which writes, and a read-only connection. */
export class SqliteDataSource extends ServiceDataSource {
  readonly dialect = SQLITE;
  /** For slow reads. */
  readonly threads: ReaderThreads;
  declare driver: SqliteDriver;
  private readonly lock: FileLock | undefined;
  private readonly reader = new SqliteConnection(() => this.driver.reader, this.explain);

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
      timeout,
      enableWAL: true,
      // The connections cache statements; a runner that begins a transaction would keep those of the read connection.
      statementCacheSize: 0,
      prepareDatabase: (connection: Database.Database) => {
        // A commit is on disk before it is acknowledged, even if the power fails.
        connection.pragma('synchronous = FULL');
        // Otherwise the log keeps the size of the largest burst of writes.
        connection.pragma(`journal_size_limit = ${LOG_LIMIT}`);
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
    this.driver = new SqliteDriver(
      this,
      new OpenedFiles(databaseFile(store)),
      () => new CachingConnection(databaseFile(store), { readonly: true, timeout }),
      () => this.allowWrites(),
    );
  }

  override initialize(): Promise<this> {
    makeFilePrivate(databaseFile(this.store));
    return super.initialize();
  }

  /** Its transactions commit together with others (`WriteQueue`). */
  override createUnitRunner(): ServiceQueryRunner {
    return Object.assign(super.createUnitRunner() as SqliteQueryRunner, { sharesCommit: true });
  }

  async read<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]> {
    return this.reader.all<Row>(sql, parameters);
  }

  async readSlowly<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]> {
    // A thread may open the file again.
    this.driver.checkFiles();
    return this.threads.all<Row>(hideValues(sql), parameters);
  }

  autocommit<Row>(sql: string, parameters: StatementParameters): Promise<Row[]> {
    const { queue, writing } = this.driver;
    return queue.write(() => writing.all<Row>(sql, parameters));
  }

  /** After a start on a read-only disk. */
  private async allowWrites(): Promise<boolean> {
    if (this.lock && !this.lock.renew()) return false;
    // Connections that were opened for reading only would keep the log of all others read-only.
    await this.threads.close();
    return true;
  }

  override async destroy(): Promise<void> {
    await this.threads.close();
    await super.destroy();
    this.lock?.release();
  }
}
