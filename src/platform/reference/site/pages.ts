import { globSync, readFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import helmet from 'helmet';
import { type CurrentPage, HEAD, headerOf, type PageSettings } from './header.js';

/** A page loads everything from this service, and connects to nothing else. */
const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ['data:'],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** All headers of helmet for a page, computed once because they are constant. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = headersOf(
  helmet({
    contentSecurityPolicy: { directives: PAGE_POLICY, useDefaults: false },
    xFrameOptions: { action: 'deny' },
  }),
);

function headersOf(setHeaders: ReturnType<typeof helmet>): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  setHeaders(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}

/** The folder with files for browsers, next to `src` and `dist`. */
const PUBLIC = fileURLToPath(new URL('../../../../public', import.meta.url));

/** A complete page: a file below `public/`, with what is common to all pages. */
export function readPage(file: string, current: CurrentPage, settings: PageSettings): string {
  return readPublic(file)
    .replace('<!-- head -->', HEAD)
    .replace('<!-- header -->', headerOf(current, settings));
}

/** A page for people who are at a wrong address. @param reason trusted HTML */
export const notFoundPage = (reason: string, settings: PageSettings): string =>
  readPage('site/not-found.html', {}, settings).replace('<!-- reason -->', () => reason);

export const sendHtml = (reply: FastifyReply, html: string): FastifyReply =>
  reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(html);

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

/** The text of a file below `public/`. */
export const readPublic = (file: string): string => readFileSync(`${PUBLIC}/${file}`, 'utf8');

/** The files in a folder of `public/`. */
export const listPublic = (folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: `${PUBLIC}/${folder}` });
