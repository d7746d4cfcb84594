import { SQLITE } from '../dialect.js';
import { type Parameters, Queries } from '../queries.js';
import type { SqliteConnection } from './connection.js';

export class SqliteQueries extends Queries {
  readonly dialect = SQLITE;

  constructor(private readonly reader: SqliteConnection) {
    super();
  }

  async all<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.reader.all<Row>(sql, parameters);
  }
}
