import type Database from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { type Parameters, PLACEHOLDER } from '../parameters.js';

/** The driver's own connection behind a data source, with its statements prepared once. */
export class SqliteConnection {
  private readonly statements = new Map<string, Database.Statement>();

  constructor(private readonly source: DataSource) {}

  all<Row>(sql: string, parameters: Parameters = {}): Row[] {
    let statement = this.statements.get(sql);
    if (!statement) {
      const { databaseConnection } = this.source.driver as unknown as {
        databaseConnection: Database.Database;
      };
      this.statements.set(sql, (statement = databaseConnection.prepare(hideValues(sql))));
    }
    if (statement.reader) return statement.all(parameters) as Row[];
    statement.run(parameters);
    return [];
  }
}

/**
 * The same query, planned without looking at values. SQLite looks at those of a LIMIT or of a condition, and
 * plans anew whenever they are bound: a quarter of the time of a list. Into sub-selects it does not look.
 */
function hideValues(sql: string): string {
  return /^\s*(?:select|with)\b/i.test(sql) ? sql.replaceAll(PLACEHOLDER, '(SELECT $&)') : sql;
}
