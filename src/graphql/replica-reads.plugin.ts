import type { ApolloServerPlugin } from '@apollo/server';
import { OperationTypeNode } from 'graphql';
import type { GraphqlContext } from './context.js';

/** Queries may read from a replica even though they are sent by POST; mutations may not. */
export const replicaReadsPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation, contextValue: { req } }) => {
      if (operation?.operation === OperationTypeNode.QUERY) req.readScope?.markReadOnly();
    },
  }),
};
