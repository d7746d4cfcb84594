import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config/config.js';
import { serveApp } from './site/app-pages.js';
import { registerBuiltFiles } from './site/built-pages.js';
import { HomeController } from './site/home.controller.js';
import { serveGuides } from './site/guide-pages.js';
import { APP_HEADERS, readPage, sendHtml, withBase } from './site/pages.js';
import { hasApp, readPublic, serveFiles } from './site/public-files.js';

/**
 * Serves the committed reference of the REST API as `/openapi.json`, as it holds for `WRITE_ACCESS`
 * (`npm run build` creates the files), and the pages for people: `/docs`, which displays it, `/`, the guides, the page of
 * links in mails, and the icon that browsers request.
 */
@Module({ controllers: [HomeController] })
export class ReferenceModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const { config } = this;
    // An application context has no HTTP server.
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (!fastify) return;
    serveReference(fastify, config);
    serveFiles(fastify, 'site', '/site/');
    if (config.graphql.playground) serveFiles(fastify, 'playground', '/graphql/playground/');
    const icon = readPublic('site/favicon.svg');
    fastify.get('/favicon.ico', (_, reply) =>
      reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(icon),
    );
    const robots = readPublic('site/robots.txt');
    fastify.get('/robots.txt', (_, reply) => reply.type('text/plain; charset=utf-8').send(robots));
    registerBuiltFiles(fastify);
    serveGuides(fastify, config);
    if (hasApp) serveApp(fastify, config);
  }
}

function serveReference(fastify: FastifyInstance, config: Config): void {
  const mode = config.writeAccess === 'open' ? 'open' : 'accounts';
  if (config.basePath === '') serveFiles(fastify, `reference/${mode}`, '/', 'no-cache');
  else {
    const document = JSON.parse(withBase(readPublic(`reference/${mode}/openapi.json`), config));
    for (const server of document.servers) if (server.url === '/') server.url = config.basePath;
    const text = JSON.stringify(document);
    fastify.get('/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(text));
  }
  const page = readPage('site/reference.html', { path: '/docs' }, config);
  fastify.get('/docs', (_, reply) => sendHtml(reply, page, APP_HEADERS));
}
