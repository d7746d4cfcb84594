import type { onSendHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { appendHook } from '../routes.js';

/**
 * Puts the path of `PUBLIC_URL` before the paths in `Location` and `Link`. Handlers name the paths of routes, which are
 * those that the service gets: a proxy takes the path of `PUBLIC_URL` off.
 */
export const publicPaths = fastifyPlugin<{ basePath: string }>(
  (fastify, { basePath }, done) => {
    const addBase: onSendHookHandler = (_request, reply, payload, next) => {
      const { location, link } = reply.getHeaders();
      // Two slashes begin another host.
      if (typeof location === 'string' && /^\/(?!\/)/.test(location))
        reply.header('location', basePath + location);
      if (typeof link === 'string')
        reply.header(
          'link',
          link.replaceAll(/<(?=\/(?!\/))/g, () => `<${basePath}`),
        );
      next(null, payload);
    };
    if (basePath !== '') fastify.addHook('onRoute', (route) => appendHook(route, 'onSend', addBase));
    done();
  },
  // Responses that are stored for a key keep the paths of routes.
  { name: 'public paths', dependencies: ['keyed responses'] },
);
