import type { ApolloServerPlugin } from '@apollo/server';
import { Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { currentTrail } from '../common/audit/audit-trail.js';
import type { GraphqlContext } from './context.js';

/** Tells the audit log which mutation it is; a query changes nothing, and a mutation that failed only what it names. */
export const auditPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => {
    const trail = currentTrail();
    // Until it is known that something may be changed.
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

/** The names of the fields at the root; those in fragments are left out. */
const fieldsOf = ({ selectionSet }: OperationDefinitionNode): string[] =>
  selectionSet.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? [selection.name.value] : [],
  );
