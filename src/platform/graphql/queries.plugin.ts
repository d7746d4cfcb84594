import type { ApolloServerPlugin } from '@apollo/server';
import { OperationTypeNode } from 'graphql';
import type { GraphqlContext } from './context.js';

/** Queries change nothing even though they are sent by POST: they may get 503 after all. */
export const queriesPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation, contextValue: { req } }) => {
      if (operation?.operation !== OperationTypeNode.QUERY) return;
      req.isQuery = true;
    },
  }),
};
