import { posix } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { FOREVER, hasBuiltFile, readBuilt, sendNotBuilt, sendNotFound } from './built-pages.js';
import { completePage, guideHeaders, sendHtml, withBase } from './pages.js';

/** Serves what VitePress has made of `docs/`. */
export function serveGuides(fastify: FastifyInstance, config: Config): void {
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': name = '' } = request.params as { '*'?: string };
    const file = `guides/${name}`;
    if (hasBuiltFile(file)) {
      if (config.basePath === '' || !file.endsWith('.js')) return reply.sendFile(file);
      // VitePress builds for one address, which its scripts contain.
      const script = withBase((await readBuilt(file))!, config);
      return reply.header('cache-control', FOREVER).type('text/javascript; charset=utf-8').send(script);
    }
    const hashes = await readBuilt('guides/script-hashes.json');
    if (hashes === undefined) return sendNotBuilt('The guides are', request, reply, config);
    const isName = /^[\w/-]*$/.test(name) && name !== '404';
    const html = isName ? await readBuilt(posix.join('guides', `${name || 'index'}.html`)) : undefined;
    if (html === undefined) return sendNotFound(request, reply, config);
    const page = completePage(html, { path: '/guides', isBelow: name !== '' }, config);
    return sendHtml(reply, page, guideHeaders(JSON.parse(hashes) as string[]));
  };
  fastify.get('/guides', send);
  fastify.get('/guides/*', send);
}
