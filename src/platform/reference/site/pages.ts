import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import helmet from 'helmet';
import { type CurrentPage, HEAD, headerOf, type PageSettings } from './header.js';
import { readPublic } from './public-files.js';

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
export const PAGE_HEADERS = headersOf(PAGE_POLICY);

/** For a page whose library writes its styles into the page. */
export const APP_HEADERS = headersOf({ ...PAGE_POLICY, styleSrc: ["'self'", "'unsafe-inline'"] });

/** For pages with the inline scripts of VitePress and the colours of highlighted code. @param hashes of the scripts */
export const guideHeaders = (hashes: readonly string[]): Readonly<Record<string, string>> =>
  headersOf({
    ...PAGE_POLICY,
    scriptSrc: ["'self'", ...hashes],
    styleSrcAttr: ["'unsafe-inline'"],
  });

function headersOf(directives: Record<string, readonly string[]>): Readonly<Record<string, string>> {
  const setHeaders = helmet({
    contentSecurityPolicy: { directives, useDefaults: false },
    xFrameOptions: { action: 'deny' },
  });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  setHeaders(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}

/** A complete page: a file below `public/`, with what is common to all pages. */
export const readPage = (file: string, current: CurrentPage, settings: PageSettings): string =>
  completePage(readPublic(file), current, settings);

/** A page with what is common to all pages. */
export const completePage = (html: string, current: CurrentPage, settings: PageSettings): string =>
  withBase(
    html.replace('<!-- head -->', HEAD).replace('<!-- header -->', headerOf(current, settings)),
    settings,
  );

/** Addresses from the root of the service: those of HTML, and those of guides in scripts and Markdown. */
const FROM_ROOT = /(?<=(?:href|src|data-account)=\\?")\/(?!\/)|(?<=["'`(])\/(?=guides\/)/g;

/** The text of a page, a script or a document with addresses below the path of `PUBLIC_URL`. */
export const withBase = (text: string, { basePath }: Pick<PageSettings, 'basePath'>): string =>
  basePath === '' ? text : text.replaceAll(FROM_ROOT, () => `${basePath}/`);

/** A page that says only why there is no other. @param reason trusted HTML */
export const messagePage = (title: string, reason: string, settings: PageSettings): string =>
  readPage('site/message.html', {}, settings)
    .replaceAll('<!-- title -->', title)
    .replace('<!-- reason -->', () => reason);

/** A page for people who are at a wrong address. @param reason trusted HTML */
export const notFoundPage = (reason: string, settings: PageSettings): string =>
  messagePage('Page not found', reason, settings);

export const sendHtml = (reply: FastifyReply, html: string, headers = PAGE_HEADERS): FastifyReply =>
  reply.headers(headers).type('text/html; charset=utf-8').send(html);
