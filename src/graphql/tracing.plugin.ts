import type { ApolloServerPlugin } from '@apollo/server';
import { trace } from '@opentelemetry/api';
import type { GraphqlContext } from './context.js';

/** The maximum length of an operation's name in a span. */
const MAX_NAME = 100;

/** Names the operation's span, which the route has started. The text is omitted, because it may contain values. */
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
