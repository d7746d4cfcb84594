/** A table, as the catalog of the database describes it. */
export interface Table {
  readonly name: string;
  /** The declared types of its columns by name, without generated columns. */
  readonly types: Readonly<Record<string, string>>;
  /** The tables that its foreign keys refer to. */
  readonly parents: readonly string[];
}

/** Rows of a table, as a JSON array of objects. */
export interface Batch {
  readonly json: string;
  readonly count: number;
}

/** The size of a batch; a row may be larger. */
export const BATCH = { rows: 1000, characters: 4 * 1024 * 1024 };

/**
 * All rows of a database, for a copy into the other one. Values are numbers or texts that the column of the other one
 * accepts: booleans are 1 and 0, times RFC 3339 in UTC, and bytes `\x` with hexadecimal digits.
 */
export interface Contents {
  /** Call it first. @throws DatabaseError when somebody else uses the database */
  reserve(): Promise<void>;
  /** Begins a transaction during which nobody else writes. @returns the tables */
  beginReading(): Promise<Table[]>;
  /** The same for an empty database. @returns tables with triggers first: the rows that these write are replaced */
  beginWriting(): Promise<Table[]>;
  query<Row>(sql: string): Promise<Row[]>;
  /** The rows of these columns, in parts. */
  batches(table: Table, columns: readonly string[]): AsyncIterable<Batch>;
  insert(table: Table, columns: readonly string[], json: string): Promise<void>;
  /** The last id that each table gave out, also to rows that are gone. */
  lastIds(): Promise<Map<string, number>>;
  /** The next id of each table follows the last one. */
  setLastIds(ids: ReadonlyMap<string, number>): Promise<void>;
  commit(): Promise<void>;
  /** Rolls back what was not committed. */
  close(): Promise<void>;
}

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Sorts tables so that each comes after those that it refers to, and otherwise keeps their order. */
export function parentsFirst(tables: readonly Table[]): Table[] {
  const seen = new Set<Table>();
  const sorted: Table[] = [];
  const add = (table: Table): void => {
    if (seen.has(table)) return;
    seen.add(table);
    for (const parent of tables) if (table.parents.includes(parent.name)) add(parent);
    sorted.push(table);
  };
  tables.forEach(add);
  return sorted;
}
