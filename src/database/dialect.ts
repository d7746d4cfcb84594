/** The little SQL that the two databases spell differently, side by side. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The moment `:now`, or one millisecond past the column where that is later: it only moves forward. */
  forward(column: string, now: string): string;
  /** A subquery with the integers of a JSON array, such as `[1,2]`. */
  integersOf(array: string): string;
  /** A table expression whose column `value` has the elements of a JSON array. */
  elementsOf(array: string): string;
  /** A moment from RFC 3339 text in UTC. */
  toTimestamp(text: string): string;
  /** Has everyone who would write to a table wait until this transaction is over. */
  lockTable(table: string): string;
  /** Whether a name is ours alone until this transaction is over; it does not wait for whoever else has it. */
  tryLock(name: string): string;
  /** Ends a `SELECT` whose rows nobody may change before this transaction is over. */
  readonly lockRows: string;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  forward: (column, now) => `max(${now}, strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '+0.001 seconds'))`,
  integersOf: (array) => `SELECT value FROM json_each(${array})`,
  elementsOf: (array) => `json_each(${array})`,
  toTimestamp: (text) => text,
  // One transaction writes at a time.
  lockTable: () => 'SELECT 1',
  tryLock: () => 'TRUE',
  lockRows: '',
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  forward: (column, now) => `greatest(${now}::timestamptz, ${column} + interval '1 millisecond')`,
  integersOf: (array) =>
    `SELECT value::bigint FROM json_array_elements_text(${array}::json) AS element (value)`,
  elementsOf: (array) => `json_array_elements(${array}::json)`,
  toTimestamp: (text) => `CAST(${text} AS timestamptz)`,
  lockTable: (table) => `LOCK TABLE ${table} IN SHARE MODE`,
  tryLock: (name) => `pg_try_advisory_xact_lock(hashtextextended(${name}, 0))`,
  lockRows: 'FOR SHARE',
};
