import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

/** The number of cached statements. TypeORM writes limits into their text, so their number is unbounded. */
const STATEMENTS = 500;

/** A connection that caches prepared statements: TypeORM prepares one for each call. Two to four times as fast. */
export class CachingConnection extends Database {
  private readonly statements = new LRUCache<string, Database.Statement>({ max: STATEMENTS });

  // The original type infers row and parameters of a statement, which nothing here needs.
  override prepare(sql: string): any {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = super.prepare(sql)));
    return statement;
  }
}
