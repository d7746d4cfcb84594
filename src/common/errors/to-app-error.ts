import { HttpException } from '@nestjs/common';
import { isOutage } from '../../database/outage.js';
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
 * Nest or Fastify by its status, a database that is away as 503, and all else as one masked 500.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isOutage(thrown)) {
    return new AppError('SERVICE_UNAVAILABLE', 'The database cannot be reached, please retry', {
      cause: thrown,
    });
  }

  const status = statusOf(thrown);
  const code =
    CODE_OF_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'MALFORMED_REQUEST' : undefined);
  if (code === undefined || code === 'INTERNAL_ERROR') {
    return new AppError('INTERNAL_ERROR', 'Something went wrong on our side', { cause: thrown });
  }
  return new AppError(code, SENTENCES[code] ?? (thrown as Error).message, { cause: thrown });
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  if (thrown instanceof Error && thrown.name === 'FastifyError') {
    return (thrown as Error & { statusCode?: number }).statusCode ?? 500;
  }
  return 500;
}
