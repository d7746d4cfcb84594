import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { isNavigation, varyByNavigation } from '../../http/edge/unrouted-requests.js';
import { AppError, ERRORS } from '../../http/errors/errors.js';
import { messagePage, notFoundPage, sendHtml } from './pages.js';
import { PUBLIC } from './public-files.js';

/*
 * The app and the guides, which tools build into folders of `public`. Files are read at each request, because
 * `npm start` builds them while the service runs; until then, each page is 503.
 */

/** The path of a file for a page; it stays in the folder. */
const FILE = /^([\w-]+\/)*[\w@][\w.-]*\.(js|css|json)$/;

/** The names of assets change with their content. */
export const FOREVER = 'public, max-age=31536000, immutable';

/** Lets replies send the files, compressed if the client accepts that. */
export function registerBuiltFiles(fastify: FastifyInstance): void {
  void fastify.register(fastifyStatic, {
    root: PUBLIC,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) =>
      void reply.header('cache-control', path.includes('/assets/') ? FOREVER : 'no-cache'),
  });
}

/** @param path below `public/` */
export const hasBuiltFile = (path: string): boolean => FILE.test(path) && existsSync(`${PUBLIC}/${path}`);

/** The codes of a path without a file; a client may send any path. */
const NO_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG']);

/** The text of a file below `public/`; `undefined` if it does not exist. */
export const readBuilt = (path: string): Promise<string | undefined> =>
  readFile(`${PUBLIC}/${path}`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (NO_FILE.has(error.code ?? '')) return undefined;
    throw error;
  });

/** @param what is missing, such as "The console is" */
export function sendNotBuilt(
  what: string,
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
): FastifyReply {
  const text = `${what} being built; retry in some seconds; if it does not appear, read the output of the build`;
  varyByNavigation(reply);
  if (!isNavigation(request)) throw new AppError('SERVICE_UNAVAILABLE', text);
  const { status, headers } = ERRORS.SERVICE_UNAVAILABLE;
  return sendHtml(reply.code(status).headers(headers), messagePage('Not built yet', `${text}.`, config));
}

export function sendNotFound(request: FastifyRequest, reply: FastifyReply, config: Config): FastifyReply {
  varyByNavigation(reply);
  if (!isNavigation(request)) throw new AppError('NOT_FOUND', 'There is no resource at this path');
  return sendHtml(reply.code(404), notFoundPage('There is no page at this address.', config));
}
