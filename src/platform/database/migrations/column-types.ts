import type { QueryRunner } from 'typeorm';

/**
 * Column types of migrations, written once for both databases; they match the decorators of `columns.ts`.
 * On SQLite, TypeORM parses ids and foreign keys from the text of `CREATE TABLE`, so their names must be quoted.
 */
interface ColumnTypes {
  /** The primary key: ascending 64-bit integers, which are never reused. */
  readonly id: string;
  readonly integer: string;
  /** Sorts by code point. */
  readonly text: string;
  /** A time with milliseconds. */
  readonly timestamp: string;
  readonly boolean: string;
}

const SQLITE: ColumnTypes = {
  id: 'integer PRIMARY KEY AUTOINCREMENT NOT NULL',
  integer: 'integer',
  text: 'text',
  timestamp: 'text',
  boolean: 'boolean',
};

const POSTGRES: ColumnTypes = {
  id: 'bigserial PRIMARY KEY',
  integer: 'bigint',
  text: 'text COLLATE "C"',
  timestamp: 'timestamp with time zone',
  boolean: 'boolean',
};

export const isSqlite = (runner: QueryRunner): boolean => runner.dataSource.options.type === 'better-sqlite3';

export const columnTypes = (runner: QueryRunner): ColumnTypes => (isSqlite(runner) ? SQLITE : POSTGRES);
