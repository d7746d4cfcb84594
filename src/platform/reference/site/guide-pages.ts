import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { isNavigation, varyByNavigation } from '../../http/edge/unrouted-requests.js';
import { AppError, ERRORS } from '../../http/errors/errors.js';
import { completePage, guideHeaders, messagePage, notFoundPage, sendHtml } from './pages.js';
import { PUBLIC } from './public-files.js';

const FOLDER = `${PUBLIC}/guides`;

/** The name of a file for a page; it stays in the folder. */
const FILE = /^([\w-]+\/)*\w[\w.-]*\.(js|css|json)$/;

/**
 * Serves what VitePress has made of `docs/`. Files are read at each request, because `npm start` builds them while the
 * service runs; until then, each page is 503.
 */
export function serveGuides(fastify: FastifyInstance, config: Config): void {
  void fastify.register(fastifyStatic, {
    root: FOLDER,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    // The names of assets change with their content.
    setHeaders: (reply, path) =>
      void reply.header(
        'cache-control',
        path.includes('/guides/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      ),
  });
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': name = '' } = request.params as { '*'?: string };
    if (FILE.test(name) && existsSync(`${FOLDER}/${name}`)) return reply.sendFile(name);
    return sendPage(name, request, reply, config);
  };
  fastify.get('/guides', send);
  fastify.get('/guides/*', send);
}

async function sendPage(
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
): Promise<FastifyReply> {
  const hashes = await read('script-hashes.json');
  const html = /^[\w/-]*$/.test(name) ? await read(posix.join('.', `${name || 'index'}.html`)) : undefined;
  if (hashes !== undefined && html !== undefined && name !== '404') {
    const page = completePage(html, { path: '/guides', isBelow: name !== '' }, config);
    return sendHtml(reply, page, guideHeaders(JSON.parse(hashes) as string[]));
  }
  varyByNavigation(reply);
  if (hashes === undefined) {
    if (!isNavigation(request)) throw new AppError('SERVICE_UNAVAILABLE', NOT_BUILT);
    const { status, headers } = ERRORS.SERVICE_UNAVAILABLE;
    return sendHtml(reply.code(status).headers(headers), messagePage('Not built yet', NOT_BUILT, config));
  }
  if (!isNavigation(request)) throw new AppError('NOT_FOUND', 'There is no resource at this path');
  return sendHtml(reply.code(404), notFoundPage('There is no page at this address.', config));
}

const NOT_BUILT = 'The guides are being built; retry in some seconds';

/** The text of a file; `undefined` if it does not exist. */
const read = (file: string): Promise<string | undefined> =>
  readFile(`${FOLDER}/${file}`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
