import { Database, type PoolLoad } from '../database.js';
import type { SqliteDataSource } from './data-source.js';
import { THREADS } from './reader-threads.js';

/** The embedded database. */
export class SqliteDatabase extends Database {
  declare readonly source: SqliteDataSource;
  readonly searches = THREADS;

  async monitor<Row>(sql: string): Promise<Row[]> {
    return this.source.driver.reader.prepare(sql).all() as Row[];
  }

  /** It also finds a file that was deleted or replaced while nothing writes. */
  override storageFault(): Promise<string | undefined> {
    try {
      this.source.driver.checkFiles();
    } catch {
      // The storage has noted it.
    }
    return super.storageFault();
  }

  protected inspect<Row>(sql: string): Promise<Row[]> {
    return this.monitor(sql);
  }

  protected probeStorage(): Promise<unknown> {
    return this.source.transaction(async (manager) => {
      await manager.query('CREATE TABLE storage_probe AS SELECT zeroblob(262144) AS bytes');
      await manager.query('DROP TABLE storage_probe');
    });
  }

  override pools(): readonly PoolLoad[] {
    const { driver, threads } = this.source;
    const writing = driver.queue.isLocked ? 1 : 0;
    const { used } = threads;
    // Each thread has one connection; a thread that has not started yet counts as idle.
    return [
      { name: 'writer', max: 1, used: writing, idle: 1 - writing, pending: driver.queue.waitingCount },
      { name: 'search', max: THREADS, used, idle: THREADS - used, pending: this.waitingSearches },
    ];
  }

  override onWait(listener: (seconds: number) => void): void {
    this.source.driver.queue.onWait = listener;
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
  }
}
