import type { QueryRunner } from 'typeorm';
import { type Parameters, replacePlaceholders } from '../parameters.js';
import { retryCollisions } from '../retry.js';
import { Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';
import type { Writer } from './turns.js';

/** Writes on SQLite, by the one connection that does: two transactions on it at a time would be one. */
export class SqliteTransactions extends Transactions {
  private readonly connection: SqliteConnection;

  constructor(private readonly sqlite: SqliteDataSource) {
    super(sqlite);
    this.connection = new SqliteConnection(() => sqlite.writer);
  }

  protected async executeAlone<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    const { turns } = this.sqlite;
    const start = Date.now();
    const writer: Writer = { lastUsed: Infinity, evict: () => undefined };
    // Where nobody is before it, a statement runs at once.
    if (!turns.tryTake(writer)) await turns.take(writer);
    try {
      return await retryCollisions(async () => this.connection.all<Row>(sql, parameters), start);
    } finally {
      turns.give(writer);
    }
  }

  protected async executeWithin<Row>(
    runner: QueryRunner,
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
