import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { HttpException } from '@nestjs/common';
import { isDuplicate, isForeignKeyViolation, isNotStorable, isOutage } from '../../database/failures.js';
import { AppError, type ErrorCode, ERRORS, type FieldError } from './errors.js';

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
const DUPLICATE = 'There is a resource with one of these values already, which only one may have';

const NOT_STORABLE = 'A text must not contain NUL or lone surrogates';

/**
 * Converts any exception to the error for the client: an `AppError` as it is, an exception of Nest
 * with its own status, an error of Fastify by its status, an outage of the database as 503, an unhandled violation
 * of a foreign key or a unique constraint as 409, a text that the database cannot store as 422, and everything else as a
 * masked 500, even if it has a `statusCode`: it is no fault of the client.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof HttpException) return fromHttpException(thrown);
  if (isFastifyError(thrown)) return fromStatus(thrown.statusCode, thrown.message, thrown);
  if (isOutage(thrown)) return fromStatus(503, '', thrown);
  if (isForeignKeyViolation(thrown)) return new AppError('CONFLICT', STILL_REFERRED_TO, { cause: thrown });
  if (isDuplicate(thrown)) return new AppError('CONFLICT', DUPLICATE, { cause: thrown });
  if (isNotStorable(thrown)) return new AppError('VALIDATION_ERROR', NOT_STORABLE, { cause: thrown });
  return fromStatus(500, '', thrown);
}

function fromHttpException(exception: HttpException): AppError {
  const { cause } = exception;
  const status = exception.getStatus();
  // Nest wraps an error of Fastify in an exception with that cause.
  if (isFastifyError(cause)) return fromStatus(status, cause.message, cause);
  const { message, ...options } = partsOf(exception);
  return fromStatus(status, message, exception, options);
}

function fromStatus(
  status: number,
  message: string,
  cause: unknown,
  options: Omit<ReturnType<typeof partsOf>, 'message'> = {},
): AppError {
  if (status >= 400 && status < 500) {
    const code = CODE_OF_STATUS[status] ?? 'MALFORMED_REQUEST';
    const replaced = isFastifyError(cause) ? REPLACED[code] : undefined;
    return new AppError(code, replaced ?? message, { ...options, status, cause });
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

/**
 * What the body of an error can have of an exception: its text, of which `ValidationPipe` and others have a list, and
 * `details` as `{field, message}`. The rest is named.
 */
function partsOf(exception: HttpException): {
  readonly message: string;
  readonly details?: readonly FieldError[];
  readonly dropped?: readonly string[];
} {
  const response = exception.getResponse();
  if (typeof response === 'string') return { message: response };
  // As in Nest, clients do not get the text of an error that somebody wrapped.
  if (response instanceof Error) return { message: STATUS_CODES[exception.getStatus()] ?? 'Error' };
  const { message, error, details, statusCode: _, status, ...others } = response as Record<string, unknown>;
  const text = Array.isArray(message) ? message.join('; ') : (message ?? error);
  const valid = (Array.isArray(details) ? details : []).filter(isFieldError);
  const dropped = [
    message !== undefined && error !== undefined && !isUsual(error, exception) && 'error',
    status !== undefined && status !== exception.getStatus() && 'status',
    details !== undefined && !isDeepStrictEqual(details, valid.map(toFieldError)) && 'details',
    ...Object.keys(others),
  ].filter((name) => typeof name === 'string');
  return {
    message: typeof text === 'string' ? text : exception.message,
    details: valid.map(toFieldError),
    dropped,
  };
}

/** Nest adds the name of the status. */
const isUsual = (error: unknown, exception: HttpException): boolean =>
  String(error).toLowerCase() === STATUS_CODES[exception.getStatus()]?.toLowerCase();

const isFieldError = (value: unknown): value is FieldError =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<FieldError>).field === 'string' &&
  typeof (value as Partial<FieldError>).message === 'string';

const toFieldError = ({ field, message }: FieldError): FieldError => ({ field, message });

/** Fastify's errors, and the error of a connection that was closed while its body was read. */
function isFastifyError(error: unknown): error is Error & { readonly statusCode: number } {
  if (!(error instanceof Error)) return false;
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown };
  if (typeof statusCode !== 'number') return false;
  return error.name === 'FastifyError' || (code === 'ECONNRESET' && error.message === 'aborted');
}
