import { GraphQLError, type ValidationRule } from 'graphql';

/**
 * Rejects introspection, over HTTP and WebSocket. Apollo's own rule names an option of its own, which is no setting of
 * this service.
 */
export const noIntrospectionRule: ValidationRule = (context) => ({
  Field: (node) => {
    const { value: name } = node.name;
    if (name !== '__schema' && name !== '__type') return;
    const message = `Introspection is off, but the document contains ${name}; the setting GRAPHQL_INTROSPECTION=on turns it on`;
    context.reportError(new GraphQLError(message, { nodes: [node] }));
  },
});
