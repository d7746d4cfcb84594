import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import { Logger } from '@nestjs/common';
import { GraphQLError, OperationTypeNode } from 'graphql';
import { AppError } from '../http/errors/errors.js';
import type { GraphqlContext } from './context.js';
import { withStatus } from './create-context.js';
import { toClientError } from './graphql-errors.js';
import { tooManyItems } from './request-body.js';

/** For clients that accept this media type, the status also shows that an operation was not executed. */
const GRAPHQL_RESPONSE = 'application/graphql-response+json';

const SUBSCRIPTION = 'Subscriptions are accepted over WebSocket only, with the protocol graphql-transport-ws';

/**
 * Media types, statuses and operations of GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/, section 6.4),
 * which has 200 for errors of a document in `application/json`; Apollo uses 400.
 */
export const httpPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation, contextValue: { req } }) => {
      const tooMany = operation && req.method === 'POST' && tooManyItems(req.body as object, operation);
      if (tooMany) throw withStatus(tooMany);
      if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return;
      // graphql-js would fail on the stream of results, as if the service had a fault.
      const error = new AppError('MALFORMED_REQUEST', SUBSCRIPTION);
      throw new GraphQLError(error.message, { originalError: error });
    },
    willSendResponse: async ({ errors, request, response: { http, body } }) => {
      const isModern = request.http?.headers.get('accept')?.includes(GRAPHQL_RESPONSE) ?? false;
      http.headers.set('content-type', `${isModern ? GRAPHQL_RESPONSE : 'application/json'}; charset=utf-8`);
      if (body.kind !== 'single' || body.singleResult.data !== undefined || !errors?.[0]) return;
      const { code, http: ownHttp } = errors[0].extensions;
      // Apollo has set the status for the request itself, such as 405.
      if (code === ApolloServerErrorCode.BAD_REQUEST || (ownHttp && code === undefined)) return;
      const error = toClientError(errors[0]);
      if (!(error instanceof AppError)) return;
      const { status, defaultHeaders, headers } = error;
      http.status = status === 400 && !isModern ? 200 : status;
      for (const [name, value] of Object.entries({ ...defaultHeaders, ...headers })) {
        http.headers.set(name, value);
      }
    },
  }),
  unexpectedErrorProcessingRequest: async ({ error }) => {
    new Logger('GraphQL').error({ err: error });
  },
};
