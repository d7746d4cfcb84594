import { join } from 'node:path';
import type { DataSource, EntitySchema, MixedList } from 'typeorm';
import type { SqliteStore } from '../../config/config.js';
import { Database } from '../database.js';
import { DatabaseError } from '../database.error.js';
import { readWithin } from '../read-within.js';
import { SqliteConnection } from './connection.js';
import { databaseFile, sqliteDataSource } from './data-source.js';
import { FileLock } from './file-lock.js';
import { SqliteQueries } from './queries.js';
import { SqliteTransactions } from './transactions.js';

/** The embedded database: a connection for reading, which refuses to write, and one for writing. */
export class SqliteDatabase extends Database {
  readonly queries: SqliteQueries;
  readonly transactions: SqliteTransactions;

  private constructor(
    readonly source: DataSource,
    private readonly writer: DataSource,
    private readonly lock: FileLock,
  ) {
    super();
    this.transactions = new SqliteTransactions(writer);
    this.queries = new SqliteQueries(new SqliteConnection(source), this.transactions);
    readWithin(this.transactions, source);
  }

  /**
   * One service to a file: a second one would not see what the first has buffered. Commands may join in.
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
      const writer = await sqliteDataSource(store, entities, { writable: true }).initialize();
      const reader = await sqliteDataSource(store, entities, { writable: false }).initialize();
      return new SqliteDatabase(reader, writer, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
    await this.writer.destroy();
    this.lock.release();
  }
}
