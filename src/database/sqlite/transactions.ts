import type { CheckedRunner } from '../checked-runner.js';
import { type Parameters, replacePlaceholders } from '../parameters.js';
import { type Statement, Transactions } from '../transactions.js';
import { SqliteConnection } from './connection.js';
import type { SqliteDataSource } from './data-source.js';
import { GroupCommit } from './group-commit.js';

/** Transactions on SQLite, on the single writing connection, one at a time. */
export class SqliteTransactions extends Transactions {
  private readonly connection: SqliteConnection;
  private readonly group: GroupCommit;

  constructor(sqlite: SqliteDataSource) {
    super(sqlite);
    this.connection = new SqliteConnection(() => sqlite.writer);
    this.group = new GroupCommit(this.connection, sqlite.turns);
  }

  protected executeAlone<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    return this.group.run(() => this.connection.all<Row>(sql, parameters));
  }

  /** TypeORM's transactions wait at each step, which is six times as slow. */
  protected override executeBothAlone<Row>(
    { sql, parameters }: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    return this.group.run(() => {
      const rows = this.connection.all<Row>(sql, parameters);
      const next = following(rows);
      if (next) this.connection.all(next.sql, next.parameters);
      return rows;
    });
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
