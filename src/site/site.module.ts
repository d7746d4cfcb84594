import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config/config.js';
import { HealthModule } from '../health/health.module.js';
import { HomeController } from './home.controller.js';
import { listPublic, readPublic, sendHtml, serveFiles, textPage } from './pages.js';

/** The pages for people: `/`, the guides, the page of links in mails, and the icon that browsers request. */
@Module({ imports: [HealthModule], controllers: [HomeController] })
export class SiteModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    // An application context has no HTTP server.
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (!fastify) return;
    const { graphql, accountLinksUrl } = this.config;
    serveFiles(fastify, 'site', '/site/');
    if (graphql.playground) serveFiles(fastify, 'playground', '/graphql/playground/');
    const icon = readPublic('site/favicon.svg');
    fastify.get('/favicon.ico', (_, reply) =>
      reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(icon),
    );

    for (const file of listPublic('guides', '**/*.html')) {
      // `npm run build` creates the HTML from the guides.
      const html = textPage(readPublic(`guides/${file}`), '/guides', graphql.playground);
      const path = file === 'index.html' ? '/guides' : `/guides/${file.replace(/\.html$/, '')}`;
      fastify.get(path, (_, reply) => sendHtml(reply, html));
    }
    if (accountLinksUrl === undefined) serveAccountPage(fastify);
  }
}

/**
 * The page that links in mails open, unless a front end is configured. It acts only when its button is
 * pressed, because mail scanners follow links.
 */
function serveAccountPage(fastify: FastifyInstance): void {
  serveFiles(fastify, 'account', '/account/');
  const page = readPublic('account/index.html');
  fastify.get('/account', { config: { noStore: true } }, (_, reply) => sendHtml(reply, page));
}
