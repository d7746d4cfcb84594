import type { ApolloServerPlugin } from '@apollo/server';
import type { Metrics } from '../common/ports/metrics.js';
import type { GraphqlContext } from './context.js';

/**
 * Counts and times operations. Clients choose their names, so there is no label for them; operations that are not
 * executed have the type `invalid`.
 */
export function metricsPlugin(metrics: Metrics): ApolloServerPlugin<GraphqlContext> {
  const durations = metrics.histogram(
    'graphql_server_operation_duration_seconds',
    'Time from the text of a GraphQL operation to its response',
    ['graphql_operation_type', 'outcome'],
  );
  return {
    requestDidStart: async () => {
      const start = performance.now();
      return {
        willSendResponse: async ({ operation, errors }) =>
          durations.observe((performance.now() - start) / 1000, {
            graphql_operation_type: operation?.operation ?? 'invalid',
            outcome: errors && errors.length > 0 ? 'error' : 'success',
          }),
      };
    },
  };
}
