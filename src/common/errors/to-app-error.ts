import { HttpException } from '@nestjs/common';
import { isOutage } from '../../database/failures.js';
import { AppError, type ErrorCode, ERRORS } from './errors.js';

/** The first code of the table that has a status: what an error that names only a status is called. */
const CODE_OF_STATUS = new Map(
  (Object.entries(ERRORS) as [ErrorCode, { status: number }][])
    .toReversed()
    .map(([code, { status }]) => [status, code]),
);

/** Fastify's own sentences speak of its inside; these speak to the client. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  PAYLOAD_TOO_LARGE: 'The body is larger than this path accepts',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be JSON, and say so in its Content-Type',
};

/**
 * What the client is told of a failure, whatever was thrown: an error of ours as it is, an exception of
 * Nest or Fastify by its status, a database that cannot serve as 503, and all else as one masked 500.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;

  const status = statusOf(thrown);
  if (status >= 400 && status < 500) {
    const code = CODE_OF_STATUS.get(status) ?? 'MALFORMED_REQUEST';
    return new AppError(code, SENTENCES[code] ?? (thrown as Error).message, { cause: thrown });
  }
  if (status === ERRORS.SERVICE_UNAVAILABLE.status || isOutage(thrown)) {
    return new AppError('SERVICE_UNAVAILABLE', 'This cannot be answered for now, please retry', {
      cause: thrown,
    });
  }
  return new AppError('INTERNAL_ERROR', 'Something went wrong on our side', { cause: thrown });
}

/** The status that an error carries: an exception of Nest, an error of Fastify, or a request cut short. */
function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const { statusCode } = (thrown instanceof Error ? thrown : {}) as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}
