import type { ApolloServerPlugin } from '@apollo/server';
import { Histogram, type Registry } from 'prom-client';
import { BUCKETS } from '../operations/metrics.js';
import type { GraphqlContext } from './context.js';

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
