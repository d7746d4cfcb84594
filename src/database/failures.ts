import { setTimeout as sleep } from 'node:timers/promises';

/** The database cannot be used; the message says what an operator must do. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** Errors that mean an outage: socket errors of Node, classes and codes of PostgreSQL (appendix A), and own codes. */
const UNAVAILABLE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|57014|WRITE_TIMEOUT|READ_TIMEOUT)$/;

/** A disk that is full, read-only or broken: codes of PostgreSQL (also of a read-only server) and of SQLite. */
const STORAGE = /^(53100|58030|25006|SQLITE_(FULL|IOERR|READONLY|CANTOPEN).*)$/;

/** Messages of `pg` and TypeORM without a code, for a connection that is lost or times out. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query runner already released)/;

/** PostgreSQL's message on a standby, with a code (55000) that other errors have, too. */
const RECOVERING = /^recovery is in progress/;

/** PostgreSQL's message for a wrong number of values, with a code (08P01) that poolers use for lost connections. */
const WRONG_VALUES = /^bind message supplies/;

/** A concurrent transaction won. PostgreSQL: serialization failure, deadlock. SQLite: another process writes. */
const CONFLICT = /^(40001|40P01|SQLITE_BUSY.*)$/;

/** A foreign key violation: another row refers to this one, or the referenced row does not exist. */
const FOREIGN_KEY = /^(23503|23001|SQLITE_CONSTRAINT_FOREIGNKEY)$/;

/** SQLite's message for `ON DELETE RESTRICT`, which it reports with the code of a trigger. */
const RESTRICTED = /FOREIGN KEY constraint failed$/;

/** A unique constraint violation. */
const DUPLICATE = /^(23505|SQLITE_CONSTRAINT_UNIQUE)$/;

/** PostgreSQL: insufficient privilege, undefined function, feature not supported. */
const NOT_PERMITTED = /^(42501|42883|0A000)$/;

/** PostgreSQL's error classes for a role, a password or a database that it does not accept. */
const REJECTED_LOGIN = /^(28|3D)...$/;

/** PostgreSQL: undefined table. */
const MISSING_TABLE = '42P01';

interface Failure {
  readonly code: string;
  readonly message: string;
}

/**
 * Whether a test passes for an error, for the driver's error in it, or for one of several errors in it. A driver's errors
 * may not be instances of this realm's `Error`.
 */
function matches(error: unknown, test: (failure: Failure) => boolean): boolean {
  const { code, message, driverError, errors } = (error ?? {}) as Record<string, unknown>;
  const text = typeof message === 'string' ? message : '';
  return (
    test({ code: typeof code === 'string' && !WRONG_VALUES.test(text) ? code : '', message: text }) ||
    (driverError !== undefined && matches(driverError, test)) ||
    (Array.isArray(errors) && errors.some((each) => matches(each, test)))
  );
}

/** Whether an immediate retry may succeed. */
export const isConflict = (error: unknown): boolean => matches(error, ({ code }) => CONFLICT.test(code));

/** Whether a write failed because of the disk; reads may still work. */
export const isStorageFault = (error: unknown): boolean => matches(error, ({ code }) => STORAGE.test(code));

/** Whether PostgreSQL accepts no writes over this connection, as after a failover. */
export const isReadOnlyServer = (error: unknown): boolean => matches(error, ({ code }) => code === '25006');

/**
 * Whether a foreign key was violated: by the deletion of a referenced row, or by a reference to
 * a missing one.
 */
export const isForeignKeyViolation = (error: unknown): boolean =>
  matches(
    error,
    ({ code, message }) =>
      FOREIGN_KEY.test(code) || (code === 'SQLITE_CONSTRAINT_TRIGGER' && RESTRICTED.test(message)),
  );

/** Whether a unique constraint was violated. */
export const isDuplicate = (error: unknown): boolean => matches(error, ({ code }) => DUPLICATE.test(code));

/** Whether the server will never run the statement for this role. */
export const isNotPermitted = (error: unknown): boolean =>
  matches(error, ({ code }) => NOT_PERMITTED.test(code));

/** Whether the server does not accept the role, its password or the database. */
export const isRejectedLogin = (error: unknown): boolean =>
  matches(error, ({ code }) => REJECTED_LOGIN.test(code));

/** Whether a statement names a table that does not exist: the migrations have not run, or the statement is wrong. */
export const isMissingTable = (error: unknown): boolean =>
  matches(
    error,
    ({ code, message }) => code === MISSING_TABLE || /^(SqliteError: )?no such table/.test(message),
  );

/**
 * Whether an error means that the database cannot serve for now, and not that a query was
 * wrong: it is unavailable or overloaded, or retries failed. The client may retry.
 */
export const isOutage = (error: unknown): boolean =>
  matches(
    error,
    ({ code, message }) =>
      UNAVAILABLE.test(code) ||
      STORAGE.test(code) ||
      CONFLICT.test(code) ||
      CONNECTION_LOST.test(message) ||
      RECOVERING.test(message),
  );

/** How long a write is retried, including the time that it waits for other writers, in milliseconds. */
export const WRITE_DEADLINE = 4000;

/** Retries, until the deadline, when the database reports a conflict with a concurrent transaction ({@link isConflict}). */
export async function retryConflicts<T>(attempt: () => Promise<T>, start = performance.now()): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || performance.now() - start > WRITE_DEADLINE) throw error;
      // A random delay, so that the same two do not conflict again.
      await sleep(5 + Math.random() * 20);
    }
  }
}
