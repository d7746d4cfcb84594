import type Database from 'better-sqlite3';
import { type StatementParameters, replacePlaceholders } from '../statement.js';

/** A connection that prepares each statement once. */
export class SqliteConnection {
  private readonly statements = new Map<string, Database.Statement>();
  private database: Database.Database | undefined;

  /** @param explain the error to throw for one of a statement */
  constructor(
    private readonly open: () => Database.Database,
    private readonly explain: (error: unknown, sql: string) => unknown,
  ) {}

  get inTransaction(): boolean {
    return this.open().inTransaction;
  }

  all<Row>(sql: string, parameters: StatementParameters = {}): Row[] {
    try {
      const prepared = this.prepare(sql);
      if (prepared.reader) return prepared.all(parameters) as Row[];
      prepared.run(parameters);
      return [];
    } catch (error) {
      throw this.explain(error, sql);
    }
  }

  /** Runs a statement that controls a transaction, without a span of its own. */
  control(sql: string): void {
    this.prepare(sql).run();
  }

  private prepare(sql: string): Database.Statement {
    const database = this.open();
    if (database !== this.database) this.statements.clear();
    this.database = database;
    let statement = this.statements.get(sql);
    if (!statement) {
      this.statements.set(sql, (statement = database.prepare(hideValues(sql))));
    }
    return statement;
  }
}

/**
 * The same query, planned without the values. SQLite plans a query again when it binds the value of a LIMIT or of a
 * condition, which takes a quarter of the time of a list; but not for values in sub-selects.
 */
export function hideValues(sql: string): string {
  return /^\s*(?:select|with)\b/i.test(sql) ? replacePlaceholders(sql, (name) => `(SELECT :${name})`) : sql;
}
