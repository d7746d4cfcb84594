import type { ApolloServerPlugin } from '@apollo/server';
import { OperationTypeNode } from 'graphql';
import { currentReadScope } from '../database/read-scope.js';
import type { GraphqlContext } from './context.js';

/** Queries may read from a replica even though they are sent by POST; mutations may not. */
export const replicaReadsPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      if (operation?.operation === OperationTypeNode.QUERY) currentReadScope()?.markReadOnly();
    },
  }),
};
