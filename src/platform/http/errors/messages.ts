import type { ErrorCode } from './errors.js';

/** The message of each code, unless the handler has its own. Tests compare responses with them. */
export const MESSAGES = {
  MALFORMED_REQUEST: 'The body is not JSON',
  INVALID_ID: 'The id must be a 64-bit decimal integer',
  INVALID_CODE: 'The token is invalid, has expired or has been used',
  MISSING_IDEMPOTENCY_KEY: 'The Idempotency-Key header is required',
  INVALID_IDEMPOTENCY_KEY: 'The Idempotency-Key must be 1 to 255 visible ASCII characters',
  IDEMPOTENCY_KEY_IN_USE: 'A request with this Idempotency-Key is still in progress',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was already used with another body',
  INVALID_CURSOR: 'The cursor is invalid; send a next_cursor of this list unchanged',
  EVENTS_EXPIRED:
    'The event is no longer stored; read the resources again, then start without a cursor or event id',
  UNAUTHENTICATED: 'Authentication is required',
  TOKEN_NOT_VALID: 'The token is invalid',
  CSRF_FAILED: 'The X-CSRF-Token header is missing or invalid; get the token from GET /auth/session/',
  FORBIDDEN: 'A staff account is required',
  PRECONDITION_FAILED: 'The resource has changed; read it again, then repeat the change',
  PAYLOAD_TOO_LARGE: 'The body is larger than this path accepts',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be JSON, with Content-Type: application/json',
  RATE_LIMITED: 'At most 100 requests are accepted in 60 seconds; retry later',
  INTERNAL_ERROR: 'Internal error; report the request id to the operators of the service',
  SERVICE_UNAVAILABLE: 'The service is temporarily unavailable; retry later',
} as const satisfies Partial<Record<ErrorCode, string>>;
