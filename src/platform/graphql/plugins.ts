import type { ApolloServerPlugin } from '@apollo/server';
import { Histogram, type Registry } from 'prom-client';
import { BUCKETS } from '../operations/metrics.js';
import type { GraphqlContext } from './context.js';
import { Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import { Logger } from '@nestjs/common';
import { AppError } from '../http/errors/errors.js';
import { toClientError } from './graphql-errors.js';

/** For clients that accept this media type, the status also shows that an operation was not executed. */
const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/**
 * Media types, statuses and operations of GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/, section 6.4),
 * which has 200 for errors of a document in `application/json`; Apollo uses 400.
 */
export const httpPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ errors, request, response: { http, body } }) => {
      const isModern = request.http?.headers.get('accept')?.includes(GRAPHQL_RESPONSE) ?? false;
      http.headers.set('content-type', `${isModern ? GRAPHQL_RESPONSE : 'application/json'}; charset=utf-8`);
      if (body.kind !== 'single' || body.singleResult.data !== undefined || !errors?.[0]) return;
      const { code, http: ownHttp } = errors[0].extensions;
      // Apollo has set the status for the request itself, such as 405.
      if (code === ApolloServerErrorCode.BAD_REQUEST || (ownHttp && code === undefined)) return;
      const error = toClientError(errors[0]);
      if (!(error instanceof AppError)) return;
      const { defaultHeaders, headers } = error;
      const status = error.getStatus();
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

/**
 * Says what a request does, which its route does not: queries change nothing even though they are sent by POST, so they
 * may get 503 after all; the audit log has the name of a mutation.
 */
export const operationPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation, contextValue: { req } }) => {
      if (operation?.operation === OperationTypeNode.QUERY) req.context.isQuery = true;
      else if (operation) req.context.action = `mutation ${fieldsOf(operation).join(', ')}`;
    },
  }),
};

const fieldsOf = ({ selectionSet }: OperationDefinitionNode): string[] =>
  selectionSet.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? [selection.name.value] : [],
  );

/**
 * Counts and times operations. Clients choose their names, so there is no label for them; operations that are not
 * executed have the type `invalid`.
 */
export function metricsPlugin(registry: Registry): ApolloServerPlugin<GraphqlContext> {
  const durations = new Histogram({
    name: 'graphql_server_operation_duration_seconds',
    help: 'Time from the text of a GraphQL operation to its response',
    labelNames: ['graphql_operation_type', 'outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return {
    requestDidStart: async () => {
      const start = performance.now();
      return {
        willSendResponse: async ({ operation, errors }) => {
          const labels = {
            graphql_operation_type: operation?.operation ?? 'invalid',
            outcome: errors && errors.length > 0 ? 'error' : 'success',
          };
          durations.observe(labels, (performance.now() - start) / 1000);
        },
      };
    },
  };
}
