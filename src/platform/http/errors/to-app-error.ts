import { HttpException } from '@nestjs/common';
import { isForeignKeyViolation, isOutage } from '../../database/failures.js';
import { AppError, type ErrorCode, ERRORS } from './errors.js';

/** The code of an exception that has only a status. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'VALIDATION_ERROR',
  429: 'RATE_LIMITED',
  503: 'SERVICE_UNAVAILABLE',
};

/** Fastify's own messages describe its internals; clients get these. */
const REPLACED: Partial<Record<ErrorCode, string>> = {
  PAYLOAD_TOO_LARGE: ERRORS.PAYLOAD_TOO_LARGE.message,
  UNSUPPORTED_MEDIA_TYPE: ERRORS.UNSUPPORTED_MEDIA_TYPE.message,
};

const STILL_REFERRED_TO = 'Another resource refers to this one, or the one that it refers to is gone';

/**
 * Converts any exception to the error for the client: an `AppError` as it is, an exception of Nest
 * with its own status, an error of Fastify by its status, an outage of the database as 503, an unhandled foreign key
 * violation as 409, and everything else as a masked 500, even if it has a `statusCode`: it is no fault of the client.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof HttpException) return fromHttpException(thrown);
  if (isFastifyError(thrown)) return fromStatus(thrown.statusCode, thrown.message, thrown);
  if (isOutage(thrown)) return fromStatus(503, '', thrown);
  if (isForeignKeyViolation(thrown)) return new AppError('CONFLICT', STILL_REFERRED_TO, { cause: thrown });
  return fromStatus(500, '', thrown);
}

function fromHttpException(exception: HttpException): AppError {
  const { cause } = exception;
  // Nest wraps an error of Fastify in an exception with that cause.
  const message = isFastifyError(cause) ? cause.message : textOf(exception);
  return fromStatus(exception.getStatus(), message, isFastifyError(cause) ? cause : exception);
}

function fromStatus(status: number, message: string, cause: unknown): AppError {
  if (status >= 400 && status < 500) {
    const code = CODE_OF_STATUS[status] ?? 'MALFORMED_REQUEST';
    const replaced = isFastifyError(cause) ? REPLACED[code] : undefined;
    return new AppError(code, replaced ?? message, { status, cause });
  }
  if (status === 503) {
    return new AppError('SERVICE_UNAVAILABLE', ERRORS.SERVICE_UNAVAILABLE.message, {
      cause,
    });
  }
  const isServerError = status > 500 && status < 600;
  return new AppError('INTERNAL_ERROR', ERRORS.INTERNAL_ERROR.message, {
    cause,
    ...(isServerError && { status }),
  });
}

/** The text of an exception; `ValidationPipe` and others put a list of texts into their response. */
function textOf(exception: HttpException): string {
  const response = exception.getResponse();
  const message = typeof response === 'object' && 'message' in response ? response.message : response;
  if (Array.isArray(message)) return message.join('; ');
  return typeof message === 'string' ? message : exception.message;
}

/** Fastify's errors, and the error of a connection that was closed while its body was read. */
function isFastifyError(error: unknown): error is Error & { readonly statusCode: number } {
  if (!(error instanceof Error)) return false;
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown };
  if (typeof statusCode !== 'number') return false;
  return error.name === 'FastifyError' || (code === 'ECONNRESET' && error.message === 'aborted');
}
