import { join } from 'node:path';
import type { EntitySchema, MixedList } from 'typeorm';
import type { SqliteStore } from '../../config/config.js';
import { Database, type PoolLoad } from '../database.js';
import { DatabaseError } from '../database.error.js';
import { type Listening, NO_SIGNALS } from '../listening.js';
import { databaseFile, SqliteDataSource } from './data-source.js';
import { FileLock } from './file-lock.js';
import { SqliteQueries } from './queries.js';
import { SqliteTransactions } from './transactions.js';

/** The embedded database. */
export class SqliteDatabase extends Database {
  readonly queries: SqliteQueries;
  readonly transactions: SqliteTransactions;

  private constructor(
    readonly source: SqliteDataSource,
    private readonly lock: FileLock,
  ) {
    super();
    this.transactions = new SqliteTransactions(source);
    this.queries = new SqliteQueries(source, this.transactions);
  }

  /**
   * One service for a file: a second one would not see the first one's buffered data. Commands may use it, too.
   *
   * @throws DatabaseError when another service has the file open
   */
  static async open(
    store: SqliteStore,
    entities: MixedList<Function | string | EntitySchema>,
    prepare: () => Promise<void>,
  ): Promise<SqliteDatabase> {
    const lock = FileLock.acquire(join(store.directory, 'service.lock'), 0);
    if (!lock) throw new DatabaseError(`Another service has ${databaseFile(store)} open`);
    try {
      await prepare();
      const source = new SqliteDataSource(store, entities);
      await source.initialize();
      return new SqliteDatabase(source, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** A file has one service, which signals its changes in memory. */
  listen(): Listening {
    return NO_SIGNALS;
  }

  async peek<Row>(sql: string): Promise<Row[]> {
    return this.source.reader.prepare(sql).all() as Row[];
  }

  protected probeStorage(): Promise<unknown> {
    return this.source.transaction(async (manager) => {
      await manager.query('CREATE TABLE storage_probe AS SELECT zeroblob(262144) AS bytes');
      await manager.query('DROP TABLE storage_probe');
    });
  }

  override pools(): readonly PoolLoad[] {
    const { turns, threads } = this.source;
    const used = turns.isTaken ? 1 : 0;
    return [{ name: 'writer', max: 1, used, idle: 1 - used, pending: turns.waitingCount }, threads.load];
  }

  override onWait(listener: (seconds: number) => void): void {
    this.source.turns.onWait = listener;
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
    this.lock.release();
  }
}
