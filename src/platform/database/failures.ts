import { setTimeout as sleep } from 'node:timers/promises';

/** The database cannot be used; the message says what an operator must do. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** The database has lost a table that it had. */
class TableLostError extends Error {
  readonly code = 'TABLE_LOST';
}

/**
 * Errors that mean an outage: of sockets and used-up resources in Node, classes and codes of PostgreSQL (appendix A)
 * and SQLite, and own codes.
 */
const UNAVAILABLE =
  /^(E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|NOTFOUND|AI_AGAIN|MFILE|NFILE|AGAIN|NOMEM|NOBUFS)|08...|53...|57...|25P0[34]|SQLITE_NOMEM|TABLE_LOST|WRITE_TIMEOUT|READ_TIMEOUT|NO_THREAD)$/;

/** A disk that is full, read-only or broken: codes of PostgreSQL (also of a read-only server) and of SQLite. */
const STORAGE = /^(53100|58030|25006|SQLITE_(FULL|IOERR|READONLY|CANTOPEN).*)$/;

/** A file of SQLite that is damaged. Waiting does not help. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** Messages of `pg` and Piscina without a code, for a connection or its thread that is lost or times out. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Terminating worker thread)/;

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

/** A unique constraint violation, also of a primary key. */
const DUPLICATE = /^(23505|SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID))$/;

/** PostgreSQL: a text with NUL, or with a lone surrogate in `jsonb`. */
const NOT_STORABLE = /^(22021|22P05)$/;

/** A statement that the database does not understand: a class of PostgreSQL, and SQLite's general error. */
const BAD_STATEMENT = /^(42(?!501)...|0A000|SQLITE_ERROR)$/;

/** PostgreSQL: insufficient privilege, undefined function, feature not supported. */
const NOT_PERMITTED = /^(42501|42883|0A000)$/;

/** PostgreSQL's error classes for a role, a password or a database that it does not accept. */
const REJECTED_LOGIN = /^(28|3D)...$/;

/** PostgreSQL: undefined table; the function of the server that reports another mistake with this code. */
const MISSING_TABLE = '42P01';
const MISSING_ALIAS = 'errorMissingRTE';

/** PostgreSQL: insufficient privilege, as the functions of the server report it that check the rights on an object. */
const NO_PRIVILEGE = '42501';
const CHECKS_PRIVILEGES = /^aclcheck_error/;

/** The function of the server that finds that a prepared statement has other columns since its table was changed. */
const STALE_PLAN = 'RevalidateCachedQuery';

interface Failure {
  readonly code: string;
  readonly message: string;
  /** The function of PostgreSQL's server that reports it: unlike the message, it is the same in each language. */
  readonly routine: string;
  /** Whether it has ended the attempt to connect. */
  readonly isOfConnect: boolean;
}

const failedToConnect = new WeakSet<object>();

/** Notes that an error has ended an attempt to connect to the server, which rejects or cannot serve this service. */
export function noteFailedConnect(error: Error): void {
  failedToConnect.add(error);
}

/**
 * Whether a test passes for an error, for the driver's error in it, or for one of several errors in it. A driver's errors
 * may not be instances of this realm's `Error`.
 */
function matches(error: unknown, test: (failure: Failure) => boolean): boolean {
  const { code, message, routine, driverError, errors } = (error ?? {}) as Record<string, unknown>;
  const text = typeof message === 'string' ? message : '';
  const failure = {
    code: typeof code === 'string' && !WRONG_VALUES.test(text) ? code : '',
    message: text,
    routine: typeof routine === 'string' ? routine : '',
    isOfConnect: typeof error === 'object' && error !== null && failedToConnect.has(error),
  };
  return (
    test(failure) ||
    (driverError !== undefined && matches(driverError, test)) ||
    (Array.isArray(errors) && errors.some((each) => matches(each, test)))
  );
}

/** Whether a prepared statement fails because its table was changed: with a new name, it succeeds. */
export const isStalePlan = (error: unknown): boolean =>
  matches(error, ({ routine }) => routine === STALE_PLAN);

/** Whether an immediate retry may succeed. */
export const isConflict = (error: unknown): boolean =>
  matches(error, ({ code }) => CONFLICT.test(code)) || isStalePlan(error);

/** Whether a write failed because of the disk; reads may still work. */
export const isStorageFault = (error: unknown): boolean =>
  matches(error, ({ code }) => STORAGE.test(code) || DAMAGED.test(code));

/** Whether the file of SQLite is no longer the one that was opened. */
export const isMovedFile = (error: unknown): boolean =>
  matches(error, ({ code }) => code === 'SQLITE_READONLY_DBMOVED');

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

/** Whether a text has a character that the database cannot store. */
export const isNotStorable = (error: unknown): boolean =>
  matches(error, ({ code }) => NOT_STORABLE.test(code));

/** Whether a statement is wrong, or is one of the other database. */
export const isBadStatement = (error: unknown): boolean =>
  matches(error, ({ code }) => BAD_STATEMENT.test(code));

/** Whether the server will never run the statement for this role. */
export const isNotPermitted = (error: unknown): boolean =>
  matches(error, ({ code }) => NOT_PERMITTED.test(code));

/** Whether the role lacks a right, such as CREATE on the schema. */
export const lacksPrivilege = (error: unknown): boolean =>
  matches(error, ({ code }) => code === NO_PRIVILEGE);

/** Whether the server does not accept the role, its password or the database. */
export const isRejectedLogin = (error: unknown): boolean =>
  matches(error, ({ code }) => REJECTED_LOGIN.test(code));

/** Whether a statement names a table that does not exist: the migrations have not run, or the statement is wrong. */
export const isMissingTable = (error: unknown): boolean =>
  matches(
    error,
    ({ code, message }) => code === MISSING_TABLE || /^(SqliteError: )?no such table/.test(message),
  );

export const tableLost = (name: string, cause: unknown): Error =>
  new TableLostError(`The database has lost the table ${name}, or the right to see it`, { cause });

/**
 * The table that a statement has not found: the name at the position that PostgreSQL reports, possibly of a statement in
 * a trigger, or in SQLite's message.
 */
export function missingTable(error: unknown, sql: string): string | undefined {
  const { driverError = error } = (error ?? {}) as { driverError?: unknown };
  const { code, message, routine, position, internalPosition, internalQuery } = (driverError ??
    {}) as Partial<Record<string, string>>;
  if (code !== MISSING_TABLE) return /^no such table: (?:main\.)?(\w+)/.exec(message ?? '')?.[1];
  if (routine === MISSING_ALIAS) return undefined;
  const place = Number(internalPosition ?? position) - 1;
  return /^(?:"?\w+"?\.)?"?(\w+)/.exec((internalQuery ?? sql).slice(place))?.[1];
}

const isTemporaryFailure = ({ code, message }: Failure): boolean =>
  UNAVAILABLE.test(code) ||
  STORAGE.test(code) ||
  CONFLICT.test(code) ||
  CONNECTION_LOST.test(message) ||
  RECOVERING.test(message);

/** Whether the database may serve soon without a change of settings: it is unavailable or overloaded, or retries failed. */
export const isTemporary = (error: unknown): boolean => matches(error, isTemporaryFailure);

/**
 * Whether an error means that the database cannot serve for now, and not that a query was wrong: it is unavailable or
 * overloaded, rejects the connection, or has withdrawn a right. The client may retry.
 */
export const isOutage = (error: unknown): boolean =>
  isStalePlan(error) ||
  matches(
    error,
    (failure) =>
      failure.isOfConnect ||
      isTemporaryFailure(failure) ||
      DAMAGED.test(failure.code) ||
      hasNoPrivilege(failure),
  );

/** What an outage is, for clients: without names of roles, servers and tables. */
export function describeOutage(error: unknown): string {
  if (isRejectedLogin(error)) return 'rejects the login';
  if (matches(error, ({ code }) => code.startsWith('53'))) return 'has no connection left, or no resources';
  if (matches(error, ({ code }) => code === 'TABLE_LOST')) return 'has lost tables, or the right to see them';
  return matches(error, hasNoPrivilege) ? 'has withdrawn rights' : 'cannot be reached';
}

const hasNoPrivilege = ({ code, routine }: Failure): boolean =>
  code === NO_PRIVILEGE && CHECKS_PRIVILEGES.test(routine);

/** How long a write is retried, including the time that it waits for other writers, in milliseconds. */
export const WRITE_DEADLINE = 4000;

/**
 * Retries, until the deadline, when the database reports a conflict with a concurrent transaction ({@link isConflict}).
 * Retries once over another connection when the server of this one accepts no writes, as after a failover.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>, start = performance.now()): Promise<T> {
  for (let mayReconnect = true; ;) {
    try {
      return await attempt();
    } catch (error) {
      const reconnects = mayReconnect && isReadOnlyServer(error);
      if (!(reconnects || isConflict(error)) || performance.now() - start > WRITE_DEADLINE) throw error;
      if (reconnects) mayReconnect = false;
      // A random delay, so that the same two do not conflict again.
      await sleep(5 + Math.random() * 20);
    }
  }
}
