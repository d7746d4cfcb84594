/** Node's socket errors, and PostgreSQL's classes and codes (appendix A) for a server that is not there. */
const OUTAGE_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|57014|SQLITE_BUSY.*)$/;

/** What `pg` and TypeORM say without a code when a connection is lost or does not come about in time. */
const OUTAGE_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Query runner already released)/;

/**
 * Whether a failure means that the database is away or overloaded, rather than that we asked it something
 * wrong. Such a request may be repeated.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, driverError } = error as NodeJS.ErrnoException & { driverError?: unknown };
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true;
  return (
    (typeof code === 'string' && OUTAGE_CODES.test(code)) ||
    OUTAGE_MESSAGES.test(error.message) ||
    isOutage(driverError)
  );
}
