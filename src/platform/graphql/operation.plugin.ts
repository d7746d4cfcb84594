import type { ApolloServerPlugin } from '@apollo/server';
import { Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import type { GraphqlContext } from './context.js';

/**
 * Says what a request does, which its route does not: queries change nothing even though they are sent by POST, so they
 * may get 503 after all; the audit log has the name of a mutation.
 */
export const operationPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation, contextValue: { req } }) => {
      if (operation?.operation === OperationTypeNode.QUERY) req.isQuery = true;
      else if (operation) req.action = `mutation ${fieldsOf(operation).join(', ')}`;
    },
  }),
};

/** The names of the root fields, without those in fragments. */
const fieldsOf = ({ selectionSet }: OperationDefinitionNode): string[] =>
  selectionSet.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? [selection.name.value] : [],
  );
