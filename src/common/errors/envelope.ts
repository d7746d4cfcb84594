import type { AppError, ErrorCode, FieldError } from './errors.js';

/** The body of every rejection over REST; `details` is there only when a field is to blame. */
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
