import type { ApolloServerPlugin } from '@apollo/server';
import { shareEventLoop, yieldToEventLoop } from '../../common/loading/event-loop.js';
import type { GraphqlContext } from '../context.js';
import { costOf } from './cost.js';
import { tooComplex } from './too-complex.js';

/** The request header that enables `extensions.cost`. */
const COST_HEADER = 'graphql-cost';

/** Operations with more objects take milliseconds, and yield to other requests. */
const LARGE = 100;

/** Limits the objects in a response. They depend on the variables, so cached documents are checked too. */
export const costPlugin = (limit: number): ApolloServerPlugin<GraphqlContext> => ({
  requestDidStart: async () => {
    let objects = 0;
    return {
      didResolveOperation: async ({ operation, document, schema, request, contextValue }) => {
        if (!operation) return;
        objects = costOf(operation, document, schema)(request.variables ?? {});
        const error = tooComplex('objects to respond with', objects, limit);
        if (error) throw error;
        if (objects <= LARGE) return;
        shareEventLoop(contextValue);
        await yieldToEventLoop();
      },
      willSendResponse: async ({ contextValue, response: { body } }) => {
        if (!(COST_HEADER in contextValue.req.headers) || body.kind !== 'single') return;
        const { singleResult } = body;
        if (!('data' in singleResult)) return;
        singleResult.extensions = { ...singleResult.extensions, cost: { objects, limit } };
      },
    };
  },
});
