/** The SQL that differs between the two databases. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Whether one process at a time uses the database, apart from commands. */
  readonly hasOneProcess: boolean;
  /** `:now`, or one millisecond past the column where that is later: times only move forward. */
  forward(column: string, now: string): string;
  /** A subquery with the integers of a JSON array, such as `[1,2]`. */
  integersOf(array: string): string;
  /** A table expression whose column `value` has the elements of a JSON array. */
  elementsOf(array: string): string;
  /**
   * A table expression with the objects of a JSON array as rows of a table: the given columns, which members of the
   * objects have as names, and `place`, which grows in the order of the array.
   */
  recordsOf(table: string, columns: readonly string[], array: string): string;
  /**
   * A subquery with the highest ids of the rows of each parent in the JSON array `:parents`: `:limit` of each below
   * `:before`. With an index on the column and the id, it reads no other rows.
   */
  highestIdsOfEach(table: string, parentColumn: string): string;
  /**
   * Conditions of the rows after a position, for keyset pagination: together they are true for each of these rows, and
   * each is one range of an index on the columns. In the order of the list, the rows of the first come first.
   *
   * @param columns the last one is the id; the position is in `:after0`, `:after1` and so on
   */
  rangesAfter(columns: readonly string[], direction: 'ASC' | 'DESC'): readonly string[];
  /** Selects the `table` and the `column` of every column. */
  readonly columns: string;
  /**
   * Selects the `name` of every table and sequence, with each `privilege` on it and whether it `isHeld` by the role.
   * Undefined where there are none.
   */
  readonly privileges?: string;
  /** A condition that is always true. On SQLite, it throws after the deadline of `Queries.search`. */
  readonly withinDeadline: string;
  /** A time from RFC 3339 text in UTC. */
  toTimestamp(text: string): string;
  /**
   * Identifies the server and its history: it changes after a failover, and after a restore into another database.
   * Undefined where the database has no such value.
   */
  readonly server?: string;
  /** Blocks writes and conflicting locks of a table until the transaction ends. */
  lockTable(table: string): string;
  /** Whether the transaction got the exclusive lock of a name; it does not wait. */
  tryLock(name: string): string;
  /** The isolation of a transaction that takes a lock: it sees what was committed before. Undefined for the only one. */
  readonly isolationOfLocks?: 'READ COMMITTED';
  /** Ends a `SELECT` whose rows may not change before the transaction ends. */
  readonly lockRows: string;
  /** Ends a `SELECT` whose rows may be neither locked nor changed before the transaction ends. */
  readonly lockRowsForUpdate: string;
  /** Like `lockRowsForUpdate`, but skips locked rows. */
  readonly lockFreeRows: string;
}

const isAfter = { ASC: '>', DESC: '<' };

export const SQLITE: Dialect = {
  name: 'sqlite',
  hasOneProcess: true,
  forward: (column, now) => `max(${now}, strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '+0.001 seconds'))`,
  integersOf: (array) => `SELECT value FROM json_each(${array})`,
  elementsOf: (array) => `json_each(${array})`,
  recordsOf: (_, columns, array) => `(
    SELECT key AS place, ${columns.map((name) => `value ->> '${name}' AS ${name}`).join(', ')} FROM json_each(${array})
  )`,
  columns: `
    SELECT tables.name AS "table", columns.name AS "column"
    FROM sqlite_master AS tables CROSS JOIN pragma_table_xinfo(tables.name) AS columns
    WHERE tables.type IN ('table', 'view')`,
  // SQLite has no LATERAL; a correlated subquery selects the ids, by which the rows are read.
  highestIdsOfEach: (table, column) => `
    SELECT child.id FROM json_each(:parents) AS parent CROSS JOIN ${table} AS child
    WHERE child.id IN (
      SELECT id FROM ${table} WHERE ${column} = parent.value AND id < :before ORDER BY id DESC LIMIT :limit
    )`,
  // It reads a comparison of rows from the index of the first column only, if the second is an `INTEGER PRIMARY KEY`.
  rangesAfter: (columns, direction) =>
    columns
      .map((column, index) =>
        [
          ...columns.slice(0, index).map((equal, n) => `${equal} = :after${n}`),
          `${column} ${isAfter[direction]} :after${index}`,
        ].join(' AND '),
      )
      .toReversed(),
  withinDeadline: 'within_deadline()',
  toTimestamp: (text) => text,
  // SQLite has one writing transaction at a time.
  lockTable: () => 'SELECT 1',
  tryLock: () => 'TRUE',
  lockRows: '',
  lockRowsForUpdate: '',
  lockFreeRows: '',
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  hasOneProcess: false,
  forward: (column, now) => `greatest(${now}::timestamptz, ${column} + interval '1 millisecond')`,
  integersOf: (array) =>
    `SELECT value::bigint FROM json_array_elements_text(${array}::json) AS element (value)`,
  elementsOf: (array) => `json_array_elements(${array}::json)`,
  recordsOf: (table, columns, array) => `(
    SELECT place, ${columns.map((name) => `record.${name}`).join(', ')}
    FROM json_array_elements(${array}::json) WITH ORDINALITY AS element (value, place)
      CROSS JOIN LATERAL json_populate_record(NULL::${table}, element.value) AS record
  )`,
  columns: `
    SELECT tables.relname AS "table", columns.attname AS "column"
    FROM pg_class AS tables JOIN pg_attribute AS columns ON columns.attrelid = tables.oid
    WHERE tables.relkind IN ('r', 'p', 'v', 'f') AND columns.attnum > 0 AND NOT columns.attisdropped
      AND tables.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
  privileges: `
    SELECT relname AS name, privilege, CASE relkind WHEN 'S' THEN has_sequence_privilege(oid, privilege)
      ELSE has_table_privilege(oid, privilege) END AS "isHeld"
    FROM pg_class CROSS JOIN LATERAL unnest(
      CASE relkind WHEN 'S' THEN ARRAY['USAGE'] ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END
    ) AS privilege
    WHERE relkind IN ('r', 'p', 'v', 'f', 'S') AND pg_table_is_visible(oid)
      AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
  highestIdsOfEach: (table, column) => `
    SELECT child.id FROM json_array_elements_text(CAST(:parents AS json)) AS parent (id) CROSS JOIN LATERAL (
      SELECT id FROM ${table} WHERE ${column} = CAST(parent.id AS bigint) AND id < :before
      ORDER BY id DESC LIMIT :limit
    ) AS child`,
  rangesAfter: (columns, direction) => [
    `(${columns.join(', ')}) ${isAfter[direction]} (${columns.map((_, n) => `:after${n}`).join(', ')})`,
  ],
  // The server has a statement timeout.
  withinDeadline: 'TRUE',
  toTimestamp: (text) => `CAST(${text} AS timestamptz)`,
  // From the log that is being written: the control file follows a promotion with a delay.
  server: `(SELECT system_identifier FROM pg_control_system()) || '/' ||
    (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' ||
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`,
  lockTable: (table) => `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`,
  isolationOfLocks: 'READ COMMITTED',
  tryLock: (name) => `pg_try_advisory_xact_lock(hashtextextended(${name}, 0))`,
  lockRows: 'FOR SHARE',
  lockRowsForUpdate: 'FOR UPDATE',
  lockFreeRows: 'FOR UPDATE SKIP LOCKED',
};
