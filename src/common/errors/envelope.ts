import type { AppError, ErrorCode, FieldError } from './errors.js';

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
