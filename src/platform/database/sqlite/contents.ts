import Database from 'better-sqlite3';
import type { SqliteStore } from '../../config/config.js';
import { BATCH, type Batch, type Contents, quote, type Table } from '../contents.js';
import { databaseFile } from './data-source.js';
import { type FileLock, lockForService } from './file-lock.js';

/** How long another command may keep the move waiting, in milliseconds. */
const TIMEOUT = 30_000;

/** Without virtual tables and those that belong to them: triggers fill them. */
const TABLES = `
  SELECT name,
    (SELECT json_group_object(name, type) FROM pragma_table_xinfo(tables.name) WHERE hidden = 0) AS types,
    (SELECT json_group_array("table") FROM pragma_foreign_key_list(tables.name)) AS parents
  FROM pragma_table_list AS tables
  WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
  ORDER BY EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = tables.name) DESC, name`;

const isBytes = ({ types }: Table, column: string) => /blob/i.test(types[column]!);

/** The contents of the embedded database. */
export class SqliteContents implements Contents {
  private lock: FileLock | undefined;
  private opened: Database.Database | undefined;

  constructor(private readonly store: SqliteStore) {}

  async reserve(): Promise<void> {
    this.lock = lockForService(this.store);
  }

  async beginReading(): Promise<Table[]> {
    this.opened = new Database(databaseFile(this.store), { fileMustExist: true, timeout: TIMEOUT });
    // Commands may use the file beside the lock.
    this.opened.exec('BEGIN IMMEDIATE');
    const tables = await this.query<{ name: string; types: string; parents: string }>(TABLES);
    return tables.map(({ name, types, parents }) => ({
      name,
      types: JSON.parse(types) as Table['types'],
      parents: JSON.parse(parents) as string[],
    }));
  }

  /** Triggers stay, because they fill the search index. What they write to other tables is replaced. */
  async beginWriting(): Promise<Table[]> {
    const tables = await this.beginReading();
    this.database.pragma('defer_foreign_keys = ON');
    return tables;
  }

  async query<Row>(sql: string): Promise<Row[]> {
    const statement = this.database.prepare(sql);
    if (statement.reader) return statement.all() as Row[];
    statement.run();
    return [];
  }

  async *batches(table: Table, columns: readonly string[]): AsyncGenerator<Batch> {
    const members = columns.map((column) => {
      const name = quote(column);
      const value = isBytes(table, column) ? `iif(${name} IS NULL, NULL, '\\x' || hex(${name}))` : name;
      return `'${JSON.stringify(column)}:' || json_quote(${value})`;
    });
    const sql = `SELECT '{' || ${members.join(` || ',' || `)} || '}' FROM ${quote(table.name)} ORDER BY rowid`;
    let rows: string[] = [];
    let characters = 0;
    for (const row of this.database.prepare<[], string>(sql).pluck().iterate()) {
      rows.push(row);
      characters += row.length;
      if (rows.length < BATCH.rows && characters < BATCH.characters) continue;
      yield { json: `[${rows.join()}]`, count: rows.length };
      rows = [];
      characters = 0;
    }
    if (rows.length > 0) yield { json: `[${rows.join()}]`, count: rows.length };
  }

  async insert(table: Table, columns: readonly string[], json: string): Promise<void> {
    const values = columns.map((column) => {
      const value = `value ->> '${column}'`;
      return isBytes(table, column) ? `unhex(substr(${value}, 3))` : value;
    });
    this.database
      .prepare(
        `INSERT INTO ${quote(table.name)} (${columns.map(quote).join(', ')})
         SELECT ${values.join(', ')} FROM json_each(?)`,
      )
      .run(json);
  }

  async lastIds(): Promise<Map<string, number>> {
    const rows = await this.query<{ name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence');
    return new Map(rows.map(({ name, seq }) => [name, seq]));
  }

  async setLastIds(ids: ReadonlyMap<string, number>): Promise<void> {
    const remove = this.database.prepare('DELETE FROM sqlite_sequence WHERE name = ?');
    const add = this.database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
    for (const [name, last] of ids) {
      remove.run(name);
      add.run(name, last);
    }
  }

  async commit(): Promise<void> {
    this.database.exec('COMMIT');
  }

  async close(): Promise<void> {
    this.opened?.close();
    this.lock?.release();
  }

  private get database(): Database.Database {
    return this.opened!;
  }
}
