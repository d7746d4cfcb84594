import type { Pool, QueryResult } from 'pg';
import { Database, type PoolLoad } from '../database.js';
import type { PostgresDataSource } from './data-source.js';
import { singleConnection } from './pools.js';

/** How long a metric waits for the lock of a table, in milliseconds. */
const LOCK_TIMEOUT = 100;

/** A PostgreSQL server, which any number of processes may share. */
export class PostgresDatabase extends Database {
  declare readonly source: PostgresDataSource;

  get searches(): number {
    return this.source.searches.options.max;
  }

  async monitor<Row>(sql: string): Promise<Row[]> {
    // The table may be locked, and health checks wait for this statement: they use the same connection.
    const limited = `SET LOCAL lock_timeout = ${LOCK_TIMEOUT}; ${sql}`;
    const results = (await this.source.monitor.query(limited)) as unknown as QueryResult[];
    return results.at(-1)!.rows as Row[];
  }

  protected async inspect<Row>(sql: string): Promise<Row[]> {
    return (await this.source.monitor.query(sql)).rows as Row[];
  }

  /** Opens a connection, if the server has refused the last one and requests have fewer than half of theirs. */
  override async probe(): Promise<void> {
    const { source } = this;
    const { totalCount, options } = source.driver.master;
    if (!source.isRefused || totalCount >= options.max / 2) return;
    const client = singleConnection(source.store);
    await client.connect();
    source.isRefused = false;
    await client.end();
  }

  protected probeStorage(): Promise<unknown> {
    return this.source.monitor.query(
      `CREATE TEMPORARY TABLE storage_probe ON COMMIT DROP AS SELECT repeat('x', 262144) AS bytes`,
    );
  }

  override pools(): readonly PoolLoad[] {
    return [
      loadOf('main', this.source.driver.master),
      { ...loadOf('search', this.source.searches), pending: this.waitingSearches },
    ];
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
  }
}

const loadOf = (name: string, { options, totalCount, idleCount, waitingCount }: Pool): PoolLoad => ({
  name,
  max: options.max,
  used: totalCount - idleCount,
  idle: idleCount,
  pending: waitingCount,
});
