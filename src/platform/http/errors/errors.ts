import { HttpException } from '@nestjs/common';

/**
 * All error codes that clients can get. Codes are public API; HTTP status, GraphQL code, the standard headers and
 * the usual message are defined here and nowhere else.
 */
export const ERRORS = {
  MALFORMED_REQUEST: { status: 400, graphql: 'BAD_USER_INPUT', message: 'The body is not JSON' },
  INVALID_ID: { status: 400, graphql: 'BAD_USER_INPUT', message: 'The id must be a 64-bit decimal integer' },
  INVALID_CURSOR: {
    status: 400,
    graphql: 'BAD_USER_INPUT',
    message: 'The cursor is invalid; send a next_cursor of this list unchanged',
  },
  INVALID_CODE: {
    status: 400,
    graphql: 'BAD_USER_INPUT',
    message: 'The token is invalid, has expired or has been used',
  },
  MISSING_IDEMPOTENCY_KEY: {
    status: 400,
    graphql: 'BAD_USER_INPUT',
    message: 'The Idempotency-Key header is required',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    graphql: 'BAD_USER_INPUT',
    message: 'The Idempotency-Key must be 1 to 255 visible ASCII characters',
  },
  UNAUTHENTICATED: {
    status: 401,
    graphql: 'UNAUTHENTICATED',
    headers: { 'www-authenticate': 'Bearer' },
    message: 'Authentication is required',
  },
  TOKEN_NOT_VALID: {
    status: 401,
    graphql: 'UNAUTHENTICATED',
    // RFC 6750, section 3.1: clients then get a new token.
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    message: 'The token is invalid',
  },
  FORBIDDEN: { status: 403, graphql: 'FORBIDDEN', message: 'A staff account is required' },
  /** The request has a session cookie, but no proof that a page of this service's front end sent it. */
  CSRF_FAILED: {
    status: 403,
    graphql: 'FORBIDDEN',
    message: 'The X-CSRF-Token header is missing or invalid; get the token from GET /auth/session/',
  },
  NOT_FOUND: { status: 404, graphql: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405 },
  CONFLICT: { status: 409, graphql: 'CONFLICT' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    graphql: 'CONFLICT',
    headers: { 'retry-after': '1' },
    message: 'A request with this Idempotency-Key is still in progress',
  },
  /** The events after a cursor have been purged. */
  EVENTS_EXPIRED: {
    status: 410,
    message:
      'The event is no longer stored; read the resources again, then start without a cursor or event id',
  },
  PRECONDITION_FAILED: {
    status: 412,
    graphql: 'PRECONDITION_FAILED',
    message: 'The resource has changed; read it again, then repeat the change',
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than this path accepts' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body must be JSON, with Content-Type: application/json',
  },
  VALIDATION_ERROR: { status: 422, graphql: 'BAD_USER_INPUT' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    graphql: 'BAD_USER_INPUT',
    message: 'The Idempotency-Key was already used with another body',
  },
  /** Over GraphQL only. */
  QUERY_TOO_COMPLEX: { status: 400, graphql: 'QUERY_TOO_COMPLEX' },
  RATE_LIMITED: {
    status: 429,
    graphql: 'RATE_LIMITED',
    headers: { 'retry-after': '60' },
    message: 'At most 100 requests are accepted in 60 seconds; retry later',
  },
  INTERNAL_ERROR: {
    status: 500,
    graphql: 'INTERNAL_SERVER_ERROR',
    message: 'Internal error; report the request id to the operators of the service',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    graphql: 'SERVICE_UNAVAILABLE',
    headers: { 'retry-after': '5' },
    message: 'The service is temporarily unavailable; retry later',
  },
} as const satisfies Record<string, ErrorKind>;

interface ErrorKind {
  readonly status: number;
  /** `extensions.code`, if it is not the code itself. */
  readonly graphql?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The sentence for clients, unless the handler has its own. Tests compare responses with it. */
  readonly message?: string;
}

export type ErrorCode = keyof typeof ERRORS;

/** The codes with a message of their own. */
export type CodeWithMessage = {
  [Code in ErrorCode]: (typeof ERRORS)[Code] extends { message: string } ? Code : never;
}[ErrorCode];

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
  /** What an exception of Nest has in its response, and the body of an error has no place for: names, for the log. */
  readonly dropped?: readonly string[];
}

/** The body of every error over REST; `details` is present only if fields are invalid. */
interface ErrorEnvelope {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: readonly FieldError[];
  };
}

/**
 * An error for the client: a code of the table, and a sentence that says what is wrong. It is an exception of Nest, so
 * that `@Catch(HttpException)` catches it; `getResponse()` is the body.
 */
export class AppError extends HttpException {
  readonly details: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly isDenial: boolean;
  readonly dropped: readonly string[];

  constructor(
    readonly code: ErrorCode,
    message: string,
    {
      details = [],
      headers = {},
      status = ERRORS[code].status,
      isDenial = code === 'FORBIDDEN',
      dropped = [],
      ...options
    }: AppErrorOptions = {},
  ) {
    const body: ErrorEnvelope = {
      error: details.length > 0 ? { code, message, details } : { code, message },
    };
    super(body, status, options);
    this.message = message;
    this.isDenial = isDenial;
    this.details = details;
    this.headers = headers;
    this.dropped = dropped;
  }

  /** The headers of every response with this code, unless they are set already. */
  get defaultHeaders(): Readonly<Record<string, string>> {
    return (ERRORS[this.code] as ErrorKind).headers ?? {};
  }
}
