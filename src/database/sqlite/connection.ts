import type Database from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { Parameters } from '../parameters.js';

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
      this.statements.set(sql, (statement = databaseConnection.prepare(sql)));
    }
    if (statement.reader) return statement.all(parameters) as Row[];
    statement.run(parameters);
    return [];
  }
}
