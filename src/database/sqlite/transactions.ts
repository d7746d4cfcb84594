import type { Parameters } from '../parameters.js';
import { type DeferredSteps, type Statement, Transactions } from '../transactions.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import type { SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';
import type { WriteQueue } from './write-queue.js';

/** Transactions on SQLite, on the single writing connection, one at a time. */
export class SqliteTransactions extends Transactions {
  private readonly connection: SqliteConnection;
  private readonly queue: WriteQueue;

  constructor(source: SqliteDataSource) {
    super(source);
    const { driver } = source;
    this.connection = driver.writing;
    this.queue = driver.queue;
  }

  protected autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    return this.queue.write(() => this.connection.all<Row>(sql, parameters));
  }

  /** Synchronous work joins the group; TypeORM's transactions wait at each step, which is six times as slow. */
  protected override autocommitBoth<Row>(
    { sql, parameters }: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    return this.queue.write(() => {
      const rows = this.connection.all<Row>(sql, parameters);
      const next = following(rows);
      if (next) this.connection.all(next.sql, next.parameters);
      return rows;
    });
  }

  /** There is one writer at a time, so nothing else can have the lock. */
  protected async beginWith(
    runner: ServiceQueryRunner,
    { first }: Pick<DeferredSteps<never>, 'first'>,
  ): Promise<unknown[]> {
    await runner.startTransaction();
    return runner.execute(first.sql, first.parameters);
  }

  protected async commit(runner: ServiceQueryRunner, last: readonly Statement[]): Promise<void> {
    for (const { sql, parameters } of last) await runner.execute(sql, parameters);
    await runner.commitTransaction();
  }
}
