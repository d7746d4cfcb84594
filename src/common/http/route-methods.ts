import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import type { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';
import { isPreflight } from '../request/preflight.js';
import { isNavigation, notFoundPage, sendHtml, varyByNavigation } from './browser-pages.js';
import { MAX_PARAM_LENGTH } from './fastify-adapter.js';

/** Methods that some route has. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Rejects requests without a route: 405 with `Allow` (RFC 9110, section 15.5.6) if the path has
 * other methods, otherwise 404, which browsers get as a page. Call it before the routes are registered, and add the returned hook
 * after the one for CORS, so that browsers can read the error.
 */
export function rejectUnrouted(fastify: FastifyInstance, { graphql }: Config) {
  const page = notFoundPage('There is no page at this address.', graphql.playground);
  const paths = findMyWay({ ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH });
  const methodsOf = new Map<string, Set<string>>();

  fastify.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return; // the preflight route of @fastify/cors
    // Two routes of one path may have different names for its parameters.
    const path = url.replaceAll(/:[^/]+/g, ':parameter').replace(/(?<=.)\/$/, '');
    let methods = methodsOf.get(path);
    if (!methods) {
      methodsOf.set(path, (methods = new Set()));
      paths.on('GET', path, () => undefined, methods);
    }
    // Apollo and `@All()` register OPTIONS; below, it is rejected unless it is a preflight.
    for (const name of [method].flat()) if (name !== 'OPTIONS') methods.add(name);
  });

  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const { method } = request;
    if (isPreflight(request)) {
      // A handler must not get it: Apollo's would reject it.
      void reply.code(204).send();
    } else if (method === 'OPTIONS' && request.originalUrl === '*') {
      // The server as a whole (RFC 9110, section 9.3.7).
      void reply.code(204).header('allow', METHODS.join(', ')).send();
    } else if (request.is404 || method === 'OPTIONS') {
      const error = rejection(request.url.replace(/[?#].*/s, ''));
      varyByNavigation(reply);
      if (error.code === 'NOT_FOUND' && isNavigation(request)) sendHtml(reply.code(error.status), page);
      else done(error);
    } else {
      done();
    }
  };

  function rejection(path: string): AppError {
    const known = paths.find('GET', path);
    const isKnown = known && Object.values(known.params).every((value) => value !== '');
    if (!isKnown) return new AppError('NOT_FOUND', 'There is no resource at this path');
    const allow = [...(known.store as Set<string>)].toSorted().join(', ');
    return new AppError('METHOD_NOT_ALLOWED', `This path accepts only ${allow}`, { headers: { allow } });
  }
}
