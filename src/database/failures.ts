/**
 * Node's socket errors, and PostgreSQL's classes and codes (appendix A) for a server that cannot serve now, 55000 while it recovers;
 * and ours.
 */
const UNAVAILABLE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|57014|55000|NO_PRIMARY|WRITE_TIMEOUT|READ_TIMEOUT)$/;

/** A disk that is full, read-only or broken: PostgreSQL's codes, also of a server that only reads, and SQLite's. */
const STORAGE = /^(53100|58030|25006|SQLITE_(FULL|IOERR|READONLY|CANTOPEN).*)$/;

/** What `pg` and TypeORM say without a code when a connection is lost or does not come about in time. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query runner already released)/;

/** A concurrent transaction won. PostgreSQL: serialization failure, deadlock. SQLite: another process writes. */
const COLLISION = /^(40001|40P01|SQLITE_BUSY.*)$/;

/** A foreign key: another row refers to this one, or the row that this one refers to is not there. */
const FOREIGN_KEY = /^(23503|23001|SQLITE_CONSTRAINT_FOREIGNKEY)$/;

/** What SQLite says of `ON DELETE RESTRICT`, which it reports with the code of a trigger. */
const RESTRICTED = /FOREIGN KEY constraint failed$/;

/** A row like this one is there already. */
const DUPLICATE = /^(23505|SQLITE_CONSTRAINT_UNIQUE)$/;

/** PostgreSQL: insufficient privilege, undefined function, feature not supported. */
const REFUSED = /^(42501|42883|0A000)$/;

/** The migrations have not run yet. */
const MISSING_TABLE = '42P01';

/** A column that a replica does not have yet, because the migration has not arrived there. */
const MISSING_COLUMN = '42703';

/** Of those above, what says that the server is away, and not that it is busy. */
const AWAY = /^(E[A-Z_]+|08...|57P0.)$/;

/** What an error says of itself. A driver's errors need not be instances of this realm's `Error`. */
function describe(error: unknown): { code: string; message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return {
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : '',
  };
}

/** Whether it may work at once if it is only tried again. */
export function isCollision(error: unknown): boolean {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  return COLLISION.test(describe(error).code) || (driverError !== undefined && isCollision(driverError));
}

/** Whether nothing could be written, because of the disk; reading may still work. */
export function isStorageFault(error: unknown): boolean {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  return STORAGE.test(describe(error).code) || (driverError !== undefined && isStorageFault(driverError));
}

/**
 * Whether a foreign key rejected the change: a row that another one refers to was deleted, or one was written that
 * refers to none.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  const { code, message } = describe(error);
  return (
    FOREIGN_KEY.test(code) ||
    (code === 'SQLITE_CONSTRAINT_TRIGGER' && RESTRICTED.test(message)) ||
    (driverError !== undefined && isForeignKeyViolation(driverError))
  );
}

/** Whether a unique index rejected the row. */
export function isDuplicate(error: unknown): boolean {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  return DUPLICATE.test(describe(error).code) || (driverError !== undefined && isDuplicate(driverError));
}

/** Whether the server will not run it for us, today or later. */
export function isNotPermitted(error: unknown): boolean {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  return REFUSED.test(describe(error).code) || (driverError !== undefined && isNotPermitted(driverError));
}

export function isMissingTable(error: unknown): boolean {
  const { code, message } = describe(error);
  return code === MISSING_TABLE || /^(SqliteError: )?no such table/.test(message);
}

/**
 * Whether a failure means that the database cannot serve for now, rather than that we asked it something
 * wrong: it is away or overloaded, not migrated yet, or others were always faster. The client may retry.
 */
export function isOutage(error: unknown): boolean {
  const { code, message } = describe(error);
  const { errors = [], driverError } = (error ?? {}) as { errors?: unknown[]; driverError?: unknown };
  return (
    UNAVAILABLE.test(code) ||
    CONNECTION_LOST.test(message) ||
    STORAGE.test(code) ||
    isCollision(error) ||
    isMissingTable(error) ||
    (driverError !== undefined && isOutage(driverError)) ||
    (Array.isArray(errors) && errors.some(isOutage))
  );
}

/** Whether a read that failed here may succeed on another server. */
export function isReplicaFailure(error: unknown): boolean {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  return (
    isOutage(error) ||
    describe(error).code === MISSING_COLUMN ||
    (driverError !== undefined && isReplicaFailure(driverError))
  );
}

/** Whether the server is away, as far as this connection tells. */
export function isConnectionLost(error: unknown): boolean {
  const { errors = [], driverError } = (error ?? {}) as { errors?: unknown[]; driverError?: unknown };
  const { code, message } = describe(error);
  return (
    AWAY.test(code) ||
    CONNECTION_LOST.test(message) ||
    (driverError !== undefined && isConnectionLost(driverError)) ||
    (Array.isArray(errors) && errors.some(isConnectionLost))
  );
}
