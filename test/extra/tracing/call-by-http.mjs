/** Preloaded into a service: a request with the header `x-call` calls this address by `node:http` before it is handled. */
import { subscribe } from 'node:diagnostics_channel';

subscribe('fastify.initialization', ({ fastify }) => {
  fastify.addHook('preHandler', async ({ headers }) => {
    const address = headers['x-call'];
    if (address === undefined) return;
    // As an ES module imports it, after the hook is there.
    const { request } = await import('node:http');
    await new Promise((resolve) => {
      request(address, { method: 'POST' }, (reply) => reply.resume().on('end', resolve)).end('{}');
    });
  });
});
