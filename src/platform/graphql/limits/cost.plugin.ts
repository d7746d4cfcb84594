import type { ApolloServerPlugin } from '@apollo/server';
import { OperationTypeNode } from 'graphql';
import { yieldToEventLoop } from '../../http/event-loop.js';
import { writeLongTexts } from '../../http/json-text.js';
import { Operation } from '../loading/operation.js';
import type { GraphqlContext } from '../context.js';
import { costOf } from './cost.js';
import { tooComplex } from './too-complex.js';

/** The request header that enables `extensions.cost`. */
const COST_HEADER = 'graphql-cost';

/** Operations with more objects take milliseconds, and yield to other requests. */
const LARGE = 100;

/**
 * Limits the objects in a response, which depend on the variables, so cached documents are checked too. A query that has
 * found no memory for its response in time is a 503; a mutation keeps the result of what it has changed.
 */
export const costPlugin = (limit: number): ApolloServerPlugin<GraphqlContext> => ({
  requestDidStart: async () => {
    let objects = 0;
    return {
      didResolveOperation: async ({ operation, document, schema, request, contextValue }) => {
        if (!operation) return;
        objects = costOf(operation, document, schema, request.variables ?? {});
        const error = tooComplex('objects to respond with', objects, limit);
        if (error) throw error;
        if (objects <= LARGE) return;
        Operation.of(contextValue).markLarge();
        await yieldToEventLoop();
      },
      willSendResponse: async ({ contextValue, operation, response: { body, http } }) => {
        const loaded = Operation.of(contextValue);
        const data = body.kind === 'single' && loaded.hasMuchText && body.singleResult.data;
        if (data) await writeLongTexts(data);
        const failure = loaded.end();
        if (body.kind !== 'single') return;
        const { singleResult } = body;
        if (failure && operation?.operation === OperationTypeNode.QUERY) {
          delete singleResult.data;
          singleResult.errors = singleResult
            .errors!.filter(({ message }) => message === failure.message)
            .slice(0, 1);
          http.status = failure.getStatus();
          for (const [name, value] of Object.entries(failure.defaultHeaders)) http.headers.set(name, value);
        }
        if (!(COST_HEADER in contextValue.req.headers) || !('data' in singleResult)) return;
        singleResult.extensions = { ...singleResult.extensions, cost: { objects, limit } };
      },
    };
  },
});
