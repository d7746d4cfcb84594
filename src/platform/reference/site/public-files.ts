import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** The folder with files for browsers, next to `src` and `dist`. */
export const PUBLIC = fileURLToPath(new URL('../../../../public', import.meta.url));

/**
 * Serves the files of a folder below `public/`, except its pages, compressed if the client accepts that.
 *
 * @param prefix the path below which they are
 * @param cacheControl by default, browsers ask again after an hour
 */
export function serveFiles(
  fastify: FastifyInstance,
  folder: string,
  prefix: string,
  cacheControl = 'public, max-age=3600',
): void {
  void fastify.register(fastifyStatic, {
    root: `${PUBLIC}/${folder}`,
    prefix,
    decorateReply: false,
    // One route for each file, so that any other path is unknown.
    wildcard: false,
    index: false,
    // `npm run build` has compressed them.
    preCompressed: true,
    globIgnore: ['**/*.br', '**/*.gz'],
    cacheControl: false,
    setHeaders: (reply) => void reply.header('cache-control', cacheControl),
  });
}

/** Whether the account page and the console are built, or will be, which needs the folder `web`. */
export const hasApp = existsSync(`${PUBLIC}/app`);

/** The text of a file below `public/`. */
export const readPublic = (file: string): string => readFileSync(`${PUBLIC}/${file}`, 'utf8');
