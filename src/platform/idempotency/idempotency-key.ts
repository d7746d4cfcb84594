import { AppError, ERRORS } from '../http/errors/errors.js';

export interface IdempotentOptions {
  /** Whether a request without a key is an error. */
  readonly required?: boolean;
}

/** Metadata key of {@link IdempotentOptions}. */
export const IDEMPOTENT = Symbol('idempotent');

const MAX_LENGTH = 255;

/** A repeated header is joined with a comma and a space, so it does not match. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The key of a header, trimmed; `undefined` without one.
 *
 * @throws AppError `INVALID_IDEMPOTENCY_KEY`
 */
export function parseKey(header: string): string | undefined {
  const key = header.trim();
  if (key === '') return undefined;
  if (key.length > MAX_LENGTH || !VISIBLE_ASCII.test(key)) {
    throw new AppError('INVALID_IDEMPOTENCY_KEY', ERRORS.INVALID_IDEMPOTENCY_KEY.message);
  }
  return key;
}

export const missingKey = (): AppError =>
  new AppError('MISSING_IDEMPOTENCY_KEY', ERRORS.MISSING_IDEMPOTENCY_KEY.message);
