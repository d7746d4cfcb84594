import type { ErrorCode } from './errors.js';

/** The message of each code, unless the handler has its own. A test replays each of them. */
export const MESSAGES = {
  MALFORMED_REQUEST: 'The body is not JSON',
  INVALID_ID: 'The id must be a 64-bit decimal integer',
  INVALID_CODE: 'The token is invalid, has expired or has been used',
  MISSING_IDEMPOTENCY_KEY: 'The Idempotency-Key header is required',
  INVALID_IDEMPOTENCY_KEY: 'The Idempotency-Key must be 1 to 255 visible ASCII characters',
  IDEMPOTENCY_KEY_IN_USE: 'A request with this Idempotency-Key is still in progress',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was already used with another body',
  INVALID_CURSOR: 'The cursor is invalid; use the next_cursor of a response of this list',
  EVENTS_EXPIRED: 'The event has expired; read the resources again, then continue with the next event',
  UNAUTHENTICATED: 'Authentication is required',
  TOKEN_NOT_VALID: 'The token is invalid',
  CSRF_FAILED: 'With the session cookie, the X-CSRF-Token header of the session is required',
  FORBIDDEN: 'A staff account is required',
  PRECONDITION_FAILED: 'The resource has changed; read it again, then repeat the change',
  PAYLOAD_TOO_LARGE: 'The body is larger than this path accepts',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be JSON, with Content-Type: application/json',
  RATE_LIMITED: 'At most 100 requests are accepted in 60 seconds; retry later',
  INTERNAL_ERROR: 'Something went wrong on our side',
  SERVICE_UNAVAILABLE: 'The service is temporarily unavailable; retry later',
} as const satisfies Partial<Record<ErrorCode, string>>;
