import type { ErrorCode } from '../errors/errors.js';

/** What clients are told with a code where the handler has no words of its own. A test replays each of them. */
export const MESSAGES = {
  MALFORMED_REQUEST: 'The body is not JSON',
  INVALID_ID: 'The id must be a 64-bit decimal integer',
  INVALID_CODE: 'The token is invalid, has expired or has been used',
  MISSING_IDEMPOTENCY_KEY: 'The Idempotency-Key header is required',
  INVALID_IDEMPOTENCY_KEY: 'The Idempotency-Key must be 1 to 255 visible ASCII characters',
  IDEMPOTENCY_KEY_IN_USE: 'A request with this Idempotency-Key is still being answered',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was used with another body',
  INVALID_CURSOR: 'The cursor is not one that this list has given out',
  EVENTS_EXPIRED:
    'This event is not kept any more; read the resources again, then continue with the next event',
  UNAUTHENTICATED: 'This takes an account; please authenticate',
  TOKEN_NOT_VALID: 'The token is not valid, or not any more',
  CSRF_FAILED: 'With the session cookie this takes the X-CSRF-Token of the session',
  FORBIDDEN: 'This takes a staff account',
  PRECONDITION_FAILED: 'The resource has changed; read it again, then repeat the change',
  PAYLOAD_TOO_LARGE: 'The body is larger than this path accepts',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be JSON, and say so in its Content-Type',
  RATE_LIMITED: 'At most 100 requests are accepted in 60 seconds; please wait',
  INTERNAL_ERROR: 'Something went wrong on our side',
  SERVICE_UNAVAILABLE: 'This cannot be answered for now, please retry',
} as const satisfies Partial<Record<ErrorCode, string>>;
