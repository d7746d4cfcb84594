import type { FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { AppError } from '../errors/errors.js';
import { varyOn } from '../cache-headers.js';
import { isPreflight } from '../methods.js';

/** Methods that some route has. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Whether a browser shows the response as a page. Responses that depend on it need {@link varyByNavigation}. */
export const isNavigation = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-mode'] === 'navigate' || /^\s*text\/html\b/i.test(headers.accept ?? '');

export function varyByNavigation(reply: FastifyReply): void {
  varyOn(reply, 'Accept');
  varyOn(reply, 'Sec-Fetch-Mode');
}

interface UnroutedOptions {
  /** Sends the page that browsers get for an unknown path. */
  readonly sendNotFoundPage: (reply: FastifyReply) => void;
}

/**
 * Rejects requests without a route: 405 with `Allow` (RFC 9110, section 15.5.6) if the path has
 * other methods, otherwise 404, which browsers get as a page.
 */
export const unroutedRequests = fastifyPlugin<UnroutedOptions>(
  (fastify, { sendNotFoundPage }, done) => {
    fastify.addHook('onRequest', (request, reply, next) => {
      const { method } = request;
      if (isPreflight(request)) {
        // A handler must not get it: Apollo's would reject it.
        void reply.code(204).send();
      } else if (method === 'OPTIONS' && request.originalUrl === '*') {
        // The server as a whole (RFC 9110, section 9.3.7).
        void reply.code(204).header('allow', METHODS.join(', ')).send();
      } else if (request.is404 || method === 'OPTIONS' || fastify.routes.isMisrouted(request)) {
        const allowed = fastify.routes.methodsOf(request.url);
        varyByNavigation(reply);
        if (allowed) next(methodNotAllowed(allowed.join(', ')));
        else if (isNavigation(request)) sendNotFoundPage(reply.code(404));
        else next(new AppError('NOT_FOUND', 'There is no resource at this path'));
      } else {
        next();
      }
    });
    done();
  },
  // After CORS, so that browsers can read the error, and after the limits, which count these requests, too.
  { name: 'unrouted', dependencies: ['routes', 'cors', 'limits'] },
);

const methodNotAllowed = (allow: string): AppError =>
  new AppError('METHOD_NOT_ALLOWED', `This path accepts only ${allow}`, { headers: { allow } });
