import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { PAGE_HEADERS } from './security-headers.js';

/** The folder with files for browsers, next to `src` and `dist`. */
const PUBLIC = fileURLToPath(new URL('../../../public', import.meta.url));

/** The pages that the header of each page links to. */
const PAGES = { '/': 'Posts API', '/docs': 'Reference', '/graphql': 'Playground', '/guides': 'Guides' };
export type PagePath = keyof typeof PAGES;

/** @param playground whether to link to it */
function headerOf(current: PagePath, playground: boolean): string {
  const links = Object.entries(PAGES)
    .filter(([path]) => path !== '/graphql' || playground)
    .map(
      ([path, title]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`,
    );
  return `<nav class="site-header" aria-label="Pages">${links.join('')}</nav>`;
}

/** A complete page: a file below `public/`, with the common header. */
export function readPage(file: string, current: PagePath, playground: boolean): string {
  return readPublic(file).replace('<!-- header -->', headerOf(current, playground));
}

export const sendHtml = (reply: FastifyReply, html: string): FastifyReply =>
  reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(html);

/** Serves the files of a folder below `public/`, except its pages. @param prefix the path below which they are */
export function serveFiles(fastify: FastifyInstance, folder: string, prefix: string): void {
  void fastify.register(fastifyStatic, {
    root: `${PUBLIC}/${folder}`,
    prefix,
    decorateReply: false,
    // One route for each file, so that any other path is unknown.
    wildcard: false,
    index: false,
    maxAge: '1h',
  });
}

/** The text of a file below `public/`. */
export const readPublic = (file: string): string => readFileSync(`${PUBLIC}/${file}`, 'utf8');

/** The files in a folder of `public/`. */
export const listPublic = (folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: `${PUBLIC}/${folder}` });
