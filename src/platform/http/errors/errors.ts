/**
 * All error codes that clients can get. Codes are public API; HTTP status, GraphQL code and
 * the standard headers are defined here and nowhere else.
 */
export const ERRORS = {
  MALFORMED_REQUEST: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_ID: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_CURSOR: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_CODE: { status: 400, graphql: 'BAD_USER_INPUT' },
  MISSING_IDEMPOTENCY_KEY: { status: 400, graphql: 'BAD_USER_INPUT' },
  INVALID_IDEMPOTENCY_KEY: { status: 400, graphql: 'BAD_USER_INPUT' },
  UNAUTHENTICATED: { status: 401, graphql: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } },
  TOKEN_NOT_VALID: {
    status: 401,
    graphql: 'UNAUTHENTICATED',
    // RFC 6750, section 3.1: clients then get a new token.
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  },
  FORBIDDEN: { status: 403, graphql: 'FORBIDDEN' },
  /** The request has a session cookie, but no proof that a page of this service's front end sent it. */
  CSRF_FAILED: { status: 403, graphql: 'FORBIDDEN' },
  NOT_FOUND: { status: 404, graphql: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405 },
  CONFLICT: { status: 409, graphql: 'CONFLICT' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, graphql: 'CONFLICT', headers: { 'retry-after': '1' } },
  /** The events after a cursor have been purged. */
  EVENTS_EXPIRED: { status: 410 },
  PRECONDITION_FAILED: { status: 412, graphql: 'PRECONDITION_FAILED' },
  PAYLOAD_TOO_LARGE: { status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  VALIDATION_ERROR: { status: 422, graphql: 'BAD_USER_INPUT' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, graphql: 'BAD_USER_INPUT' },
  /** Over GraphQL only. */
  QUERY_TOO_COMPLEX: { status: 400, graphql: 'QUERY_TOO_COMPLEX' },
  RATE_LIMITED: { status: 429, graphql: 'RATE_LIMITED', headers: { 'retry-after': '60' } },
  INTERNAL_ERROR: { status: 500, graphql: 'INTERNAL_SERVER_ERROR' },
  SERVICE_UNAVAILABLE: { status: 503, graphql: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '5' } },
} as const satisfies Record<string, ErrorKind>;

interface ErrorKind {
  readonly status: number;
  /** `extensions.code`; absent where GraphQL cannot have the error. */
  readonly graphql?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ErrorCode = keyof typeof ERRORS;

/** An invalid field and its rule. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface AppErrorOptions extends ErrorOptions {
  readonly details?: readonly FieldError[];
  /** Headers of this response; they take precedence over those of the code. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for an exception of Nest with its own status, such as 418. */
  readonly status?: number;
  /** Of `FORBIDDEN`: false if no right or scope is missing, as for an old login. It is no security event then. */
  readonly isDenial?: boolean;
}

/** An error for the client: a code of the table, and a sentence that says what is wrong. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly status: number;
  readonly details: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly isDenial: boolean;

  constructor(
    readonly code: ErrorCode,
    message: string,
    {
      details = [],
      headers = {},
      status = ERRORS[code].status,
      isDenial = code === 'FORBIDDEN',
      ...options
    }: AppErrorOptions = {},
  ) {
    super(message, options);
    this.isDenial = isDenial;
    this.status = status;
    this.details = details;
    this.headers = headers;
  }

  /** The headers of every response with this code, unless they are set already. */
  get defaultHeaders(): Readonly<Record<string, string>> {
    return (ERRORS[this.code] as ErrorKind).headers ?? {};
  }
}

/** The body of every error over REST; `details` is present only if fields are invalid. */
export interface ErrorEnvelope {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: readonly FieldError[];
  };
}

export function toEnvelope({ code, message, details }: AppError): ErrorEnvelope {
  return { error: details.length > 0 ? { code, message, details } : { code, message } };
}
