import type { ApolloServerPlugin } from '@apollo/server';
import { OperationTypeNode } from 'graphql';
import { currentReadScope } from '../database/read-scope.js';
import type { GraphqlContext } from './context.js';

/** A query is sent by POST, too, and may read from a replica; a mutation may not. */
export const replicaReadsPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      if (operation?.operation === OperationTypeNode.QUERY) currentReadScope()?.markReadOnly();
    },
  }),
};
