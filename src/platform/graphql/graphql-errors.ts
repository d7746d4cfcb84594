import { ApolloServerErrorCode } from '@apollo/server/errors';
import { Logger } from '@nestjs/common';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { toAppError } from '../http/errors/to-app-error.js';
import { currentContext } from '../http/request-context.js';
import type { GraphqlSettings } from '../config/config.js';
import { exceededStack, originOf, tooManyTokens } from './limits/too-complex.js';

const logger = new Logger('GraphQL');

/** Apollo's codes for errors of a request, its document or its variables. */
const REQUEST_CODES = new Set<unknown>([
  ApolloServerErrorCode.BAD_REQUEST,
  ApolloServerErrorCode.BAD_USER_INPUT,
  ApolloServerErrorCode.GRAPHQL_PARSE_FAILED,
  ApolloServerErrorCode.GRAPHQL_VALIDATION_FAILED,
  ApolloServerErrorCode.OPERATION_RESOLUTION_FAILURE,
]);

/**
 * Formats errors for GraphQL clients (`formatError` of Apollo Server): errors of a document as GraphQL
 * phrases them, all others by the table of errors. Server errors are logged with their cause and
 * the id of the request.
 */
export const createFormatError =
  ({ limits, suggestions }: GraphqlSettings) =>
  (_: unknown, thrown: unknown): GraphQLFormattedError => {
    const failure = tooManyTokens(thrown, limits.tokens) ?? exceededStack(thrown) ?? thrown;
    const error = toClientError(failure);
    const requestId = currentContext()?.id;
    log(error, requestId);
    const { locations, path } = failure instanceof GraphQLError ? failure : {};
    return {
      message: suggestions ? error.message : withoutSuggestion(error.message),
      ...(locations && { locations }),
      ...(path && { path }),
      extensions: { ...extensionsOf(error), ...(requestId !== undefined && { requestId }) },
    };
  };

/** A `GraphQLError` of a resolver or a plugin is meant for the client, unchanged. */
export function toClientError(failure: unknown): AppError | GraphQLError {
  if (!(failure instanceof GraphQLError)) return toAppError(failure);
  const origin = originOf(failure);
  // The error filter has handled errors of resolvers.
  if (origin instanceof AppError) return origin.cause instanceof GraphQLError ? origin.cause : origin;
  const { code } = failure.extensions;
  if (failure.path === undefined && REQUEST_CODES.has(code)) return malformed(failure);
  if (typeof code === 'string') return failure;
  if (!(origin instanceof GraphQLError)) return toAppError(origin);
  // graphql-js names the nodes of an invalid argument, but not of a result that it cannot serialize.
  const isOfResult = failure.path !== undefined && !origin.nodes;
  return isOfResult ? toAppError(origin) : malformed(failure);
}

const malformed = ({ message }: GraphQLError) => new AppError('MALFORMED_REQUEST', message);

function extensionsOf(error: AppError | GraphQLError): Record<string, unknown> {
  if (error instanceof GraphQLError) {
    const { http: _, ...extensions } = error.extensions;
    return { code: ApolloServerErrorCode.INTERNAL_SERVER_ERROR, ...extensions };
  }
  const { graphql: code = error.code } = ERRORS[error.code] as { graphql?: string };
  return { code, ...(error.details.length > 0 && { details: error.details }) };
}

/**
 * graphql-js has an option to omit suggestions for documents; Apollo has none for variables. The message may contain a
 * value of the client, for whose length a regular expression would take minutes.
 */
function withoutSuggestion(message: string): string {
  const start = message.lastIndexOf(' Did you mean ');
  return start !== -1 && message.endsWith('?') ? message.slice(0, start) : message;
}

function log(error: AppError | GraphQLError, requestId: string | undefined): void {
  if (error instanceof GraphQLError || error.getStatus() < 500 || !error.cause) return;
  const line = { requestId, err: error.cause };
  if (error.code === 'INTERNAL_ERROR') logger.error(line);
  else logger.warn(line);
}
