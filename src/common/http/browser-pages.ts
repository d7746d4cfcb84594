import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { varyOn } from '../headers/vary.js';
import { PAGE_HEADERS } from './security-headers.js';

/** The folder with files for browsers, next to `src` and `dist`. */
const PUBLIC = fileURLToPath(new URL('../../../public', import.meta.url));

/** The pages that the header of each page links to. */
const PAGES = { '/': 'Posts API', '/docs': 'Reference', '/graphql': 'Playground', '/guides': 'Guides' };
export type PagePath = keyof typeof PAGES;

/** @param playground whether to link to it */
function headerOf(current: PagePath | undefined, playground: boolean): string {
  const links = Object.entries(PAGES)
    .filter(([path]) => path !== '/graphql' || playground)
    .map(
      ([path, title]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`,
    );
  return `<nav class="site-header" aria-label="Pages">${links.join('')}</nav>`;
}

/** A complete page: a file below `public/`, with the common header. */
export function readPage(file: string, current: PagePath | undefined, playground: boolean): string {
  return readPublic(file).replace('<!-- header -->', headerOf(current, playground));
}

/**
 * A page of text in the frame of the guides.
 *
 * @param text trusted HTML with an `h1`, which is also the title
 */
export function textPage(text: string, current: PagePath | undefined, playground: boolean): string {
  const title = /<h1[^>]*>(.*?)<\/h1>/.exec(text)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? 'Guides';
  return readPage('site/guide.html', current, playground)
    .replace('<!-- title -->', () => title)
    .replace('<!-- text -->', () => text);
}

/** A page for people who are at a wrong address. */
export const notFoundPage = (reason: string, playground: boolean): string =>
  textPage(
    `<h1>Page not found</h1><p>${reason}</p><p><a href="/">Go to the start page</a></p>`,
    undefined,
    playground,
  );

/** Whether a browser shows the response as a page. Responses that depend on it need {@link varyByNavigation}. */
export const isNavigation = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-mode'] === 'navigate' || /^\s*text\/html\b/i.test(headers.accept ?? '');

export function varyByNavigation(reply: FastifyReply): void {
  varyOn(reply, 'Accept');
  varyOn(reply, 'Sec-Fetch-Mode');
}

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
