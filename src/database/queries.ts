import type { Dialect } from './dialect.js';

/** Values for the `:name` placeholders of a statement. */
export type Parameters = Readonly<Record<string, string | number | null>>;

/**
 * Reads by SQL, for the paths where the repository is too slow: each statement is prepared once, and its
 * rows are plain objects with integers as numbers and timestamps as RFC 3339 text. Statements are kept by
 * their text, so a text is made of fixed parts, never of values.
 */
export abstract class Queries {
  abstract readonly dialect: Dialect;

  abstract all<Row>(sql: string, parameters?: Parameters): Promise<Row[]>;

  /** As `all`, for what may take seconds: it gets the time where that keeps no one else waiting. */
  search<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.all<Row>(sql, parameters);
  }

  async one<Row>(sql: string, parameters?: Parameters): Promise<Row | undefined> {
    const [row] = await this.all<Row>(sql, parameters);
    return row;
  }
}
