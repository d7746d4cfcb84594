import type { ApolloServerPlugin } from '@apollo/server';
import { Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { currentTrail } from '../http/audit-trail.js';
import type { GraphqlContext } from './context.js';

/** Names the mutation in the audit log; queries get no entries, and a failed mutation only those that it names. */
export const auditPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => {
    const trail = currentTrail();
    // Set when the operation turns out to be a mutation.
    if (trail) trail.recordsUnnamed = false;
    return {
      didResolveOperation: async ({ operation }) => {
        if (!trail || operation?.operation !== OperationTypeNode.MUTATION) return;
        trail.action = `mutation ${fieldsOf(operation).join(', ')}`;
        trail.recordsUnnamed = true;
      },
      willSendResponse: async ({ errors }) => {
        if (trail && errors && errors.length > 0) trail.recordsUnnamed = false;
      },
    };
  },
};

/** The names of the root fields, without those in fragments. */
const fieldsOf = ({ selectionSet }: OperationDefinitionNode): string[] =>
  selectionSet.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? [selection.name.value] : [],
  );
