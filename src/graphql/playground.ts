import type { FastifyInstance } from 'fastify';
import { AppError } from '../common/errors/errors.js';
import { servePage } from '../common/http/browser-pages.js';

/** Serves GraphiQL to browsers that open the GraphQL path; other clients are told to POST. */
export function servePlayground(fastify: FastifyInstance, path: string): void {
  const sendPage = servePage(fastify, 'playground', `${path}/playground/`);

  fastify.get(path, async ({ headers }, reply) => {
    if (!headers.accept?.includes('text/html')) {
      throw new AppError('METHOD_NOT_ALLOWED', 'Operations are sent by POST', { headers: { allow: 'POST' } });
    }
    return sendPage(reply);
  });
}
