import { Logger } from '@nestjs/common';
import { GraphQLError } from 'graphql';
import { AppError, ERRORS } from '../common/errors/errors.js';
import { toAppError } from '../common/errors/to-app-error.js';

const logger = new Logger('GraphQL');

/**
 * What a GraphQL client is told of a failure: what is wrong with the document as GraphQL says it, all else
 * by the one table of errors. Faults of ours are logged with their cause, under the id that the client sees.
 */
export function toGraphQLError(failure: unknown, requestId: string): GraphQLError {
  const place = failure instanceof GraphQLError ? failure : undefined;
  const error = toClientError(failure);
  const { graphql: code, status } = ERRORS[error.code] as { graphql?: string; status: number };
  if (status >= 500 && error.cause) {
    const line = { requestId, err: error.cause };
    if (error.code === 'INTERNAL_ERROR') logger.error(line);
    else logger.warn(line);
  }
  return new GraphQLError(error.message, {
    nodes: place?.nodes ?? null,
    source: place?.source ?? null,
    positions: place?.positions ?? null,
    path: place?.path ?? null,
    extensions: {
      code: code ?? error.code,
      requestId,
      ...(error.details.length > 0 && { details: error.details }),
    },
  });
}

/** An error that GraphQL itself has raised is the client's; one that came from a resolver is ours to name. */
function toClientError(failure: unknown): AppError {
  if (!(failure instanceof GraphQLError)) return toAppError(failure);
  let cause: Error | undefined = failure;
  while (cause instanceof GraphQLError) cause = cause.originalError;
  const isOfDocument = cause === undefined || (failure.path === undefined && !(cause instanceof AppError));
  return isOfDocument ? new AppError('MALFORMED_REQUEST', failure.message) : toAppError(cause);
}
