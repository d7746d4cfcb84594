import Database from 'better-sqlite3';
import { workerData } from 'node:worker_threads';

/** A statement for a reader thread. */
export interface Reading {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | number | null>>;
  /** How long it may read, in milliseconds. The start of a thread does not count. */
  readonly timeout: number;
}

/** Errors lose their code when they are sent between threads. */
export type ReadingResult =
  { readonly rows: readonly unknown[] } | { readonly code: string; readonly message: string };

/** Rows between two checks of the clock, because a check costs more than a row. */
const ROWS_PER_CHECK = 500;

const { file } = workerData as { file: string };
const database = new Database(file, { readonly: true });
/** The texts of statements are constant, so there are few. */
const statements = new Map<string, Database.Statement>();
let deadline = 0;
let rows = 0;

// A statement cannot be interrupted from outside; a function that throws stops it.
database.function('within_deadline', { deterministic: false }, () => {
  if (++rows % ROWS_PER_CHECK > 0 || Date.now() < deadline) return 1;
  throw Object.assign(new Error('The search took too long'), { code: 'READ_TIMEOUT' });
});

/** Called by the pool. */
export default function read({ sql, parameters, timeout }: Reading): ReadingResult {
  deadline = Date.now() + timeout;
  try {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = database.prepare(sql)));
    return { rows: statement.all(parameters) };
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    return { code, message };
  }
}
