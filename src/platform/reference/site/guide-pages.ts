import { posix } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { hasBuiltFile, readBuilt, sendNotBuilt, sendNotFound } from './built-pages.js';
import { completePage, guideHeaders, sendHtml } from './pages.js';

/** Serves what VitePress has made of `docs/`. */
export function serveGuides(fastify: FastifyInstance, config: Config): void {
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': name = '' } = request.params as { '*'?: string };
    if (hasBuiltFile(`guides/${name}`)) return reply.sendFile(`guides/${name}`);
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
