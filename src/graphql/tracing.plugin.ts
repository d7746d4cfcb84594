import type { ApolloServerPlugin } from '@apollo/server';
import { trace } from '@opentelemetry/api';
import type { GraphqlContext } from './context.js';

/** As much of the name of an operation as a span gets. */
const MAX_NAME = 100;

/** Names the span of the operation, which the route has started. Its text stays out: it may hold values. */
export const tracingPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation, operationName }) => {
      const span = trace.getActiveSpan();
      if (!span || !operation) return;
      span.updateName(operation.operation);
      span.setAttribute('graphql.operation.type', operation.operation);
      if (operationName) span.setAttribute('graphql.operation.name', operationName.slice(0, MAX_NAME));
    },
  }),
};
