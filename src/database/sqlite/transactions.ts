import type { CheckedRunner } from '../checked-runner.js';
import { type Parameters, replacePlaceholders } from '../parameters.js';
import { retryCollisions } from '../retry.js';
import { type Statement, Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';
import type { Writer } from './turns.js';

/** Transactions on SQLite, on the single writing connection, one at a time. */
export class SqliteTransactions extends Transactions {
  private readonly connection: SqliteConnection;

  constructor(private readonly sqlite: SqliteDataSource) {
    super(sqlite);
    this.connection = new SqliteConnection(() => sqlite.writer);
  }

  protected executeAlone<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    return this.inTurn(() => this.connection.all<Row>(sql, parameters));
  }

  /** Runs synchronously; TypeORM's transactions wait at each step, which is six times as slow. */
  protected override executeBothAlone<Row>(
    { sql, parameters }: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    const { connection } = this;
    const work = this.inTurn(() => {
      connection.all('BEGIN IMMEDIATE');
      try {
        const rows = connection.all<Row>(sql, parameters);
        const next = following(rows);
        if (next) connection.all(next.sql, next.parameters);
        connection.all('COMMIT');
        return rows;
      } catch (error) {
        if (this.sqlite.writer.inTransaction) connection.all('ROLLBACK');
        throw error;
      }
    });
    return work.catch((error: unknown) => {
      this.sqlite.storage.note(error);
      throw error;
    });
  }

  /** Runs synchronous work as soon as no other write is running. */
  private async inTurn<T>(work: () => T): Promise<T> {
    const { turns } = this.sqlite;
    const start = Date.now();
    const writer: Writer = { lastUsed: Infinity, evict: () => undefined };
    // Without another writer, a statement runs at once.
    if (!turns.tryTake(writer)) await turns.take(writer);
    try {
      return await retryCollisions(async () => work(), start);
    } finally {
      turns.give(writer);
    }
  }

  protected async executeWithin<Row>(
    runner: CheckedRunner,
    sql: string,
    parameters: Parameters,
  ): Promise<Row[]> {
    const values: unknown[] = [];
    const text = replacePlaceholders(sql, (name) => {
      values.push(parameters[name]);
      return '?';
    });
    const { records } = await runner.query(text, values, true);
    return (records as Row[] | undefined) ?? [];
  }
}
