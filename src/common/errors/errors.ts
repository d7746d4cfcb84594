/**
 * Every error code that a client can see. Codes are public API; the HTTP status, the GraphQL code and
 * the standing headers follow from here and are written nowhere else.
 */
export const ERRORS = {
  MALFORMED_REQUEST: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_ID: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_CURSOR: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_CODE: { status: 400, graphql: 'BAD_USER_INPUT' },
  MISSING_IDEMPOTENCY_KEY: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_IDEMPOTENCY_KEY: { status: 400, graphql: 'BAD_USER_INPUT' },
  UNAUTHENTICATED: { status: 401, graphql: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } },
  TOKEN_NOT_VALID: { status: 401, graphql: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } },
  FORBIDDEN: { status: 403, graphql: 'FORBIDDEN' },
  /** A browser sent the session's cookie, and nothing shows that a page of ours had it do so. */
  CSRF_FAILED: { status: 403, graphql: 'FORBIDDEN' },
  NOT_FOUND: { status: 404, graphql: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405 },
  CONFLICT: { status: 409, graphql: 'CONFLICT' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, graphql: 'CONFLICT', headers: { 'retry-after': '1' } },
  /** The events after a cursor are not kept any more. */
  EVENTS_EXPIRED: { status: 410 },
  PRECONDITION_FAILED: { status: 412 },
  PAYLOAD_TOO_LARGE: { status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  VALIDATION_ERROR: { status: 422, graphql: 'BAD_USER_INPUT' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, graphql: 'BAD_USER_INPUT' },
  /** Over GraphQL alone. */
  QUERY_TOO_COMPLEX: { status: 400, graphql: 'QUERY_TOO_COMPLEX' },
  RATE_LIMITED: { status: 429, graphql: 'RATE_LIMITED', headers: { 'retry-after': '60' } },
  INTERNAL_ERROR: { status: 500, graphql: 'INTERNAL_SERVER_ERROR' },
  SERVICE_UNAVAILABLE: { status: 503, graphql: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '5' } },
} as const satisfies Record<string, ErrorKind>;

interface ErrorKind {
  readonly status: number;
  /** `extensions.code`; absent where GraphQL cannot meet the error. */
  readonly graphql?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ErrorCode = keyof typeof ERRORS;

/** One field that broke a rule, and how. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface AppErrorOptions extends ErrorOptions {
  readonly details?: readonly FieldError[];
  /** Headers of this response; they win over those of the code. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for an exception of Nest that has a status of its own, such as 418. */
  readonly status?: number;
}

/** An error that the client sees: its code from the table, and one sentence that says what is wrong. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly status: number;
  readonly details: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { details = [], headers = {}, status = ERRORS[code].status, ...options }: AppErrorOptions = {},
  ) {
    super(message, options);
    this.status = status;
    this.details = details;
    this.headers = headers;
  }

  /** Headers that every response with this code has, unless something else has set them. */
  get defaultHeaders(): Readonly<Record<string, string>> {
    return (ERRORS[this.code] as ErrorKind).headers ?? {};
  }
}
