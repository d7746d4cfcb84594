import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config/config.js';
import { HomeController } from './site/home.controller.js';
import { hasPage } from './site/header.js';
import { listPublic, readPage, readPublic, sendHtml, serveFiles } from './site/pages.js';

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
    serveGuides(fastify, config);
    if (hasPage('/account/', config)) serveAccountPage(fastify, config);
  }
}

function serveReference(fastify: FastifyInstance, config: Config): void {
  const mode = config.writeAccess === 'open' ? 'open' : 'accounts';
  serveFiles(fastify, `reference/${mode}`, '/', 'no-cache');
  serveFiles(fastify, 'docs', '/docs/');
  const page = readPage('docs/index.html', { path: '/docs' }, config);
  fastify.get('/docs', (_, reply) => sendHtml(reply, page));
}

/** `npm run build` creates the HTML from the guides, except the header, which depends on the settings. */
function serveGuides(fastify: FastifyInstance, config: Config): void {
  serveFiles(fastify, 'search', '/guides/search/');
  for (const file of listPublic('guides', '**/*.html')) {
    const isIndex = file === 'index.html';
    const html = readPage(`guides/${file}`, { path: '/guides', isBelow: !isIndex }, config);
    const path = isIndex ? '/guides' : `/guides/${file.replace(/\.html$/, '')}`;
    fastify.get(path, (_, reply) => sendHtml(reply, html));
  }
}

/**
 * The page that links in mails open, unless a front end is configured. It acts only when its button is
 * pressed, because mail scanners follow links.
 */
function serveAccountPage(fastify: FastifyInstance, config: Config): void {
  serveFiles(fastify, 'account', '/account/');
  const page = readPage('account/index.html', {}, config)
    .replace('<!-- password policy -->', config.passwordPolicy)
    .replace('<!-- registration -->', config.registrationOpen ? 'open' : 'closed')
    // A proxy may serve the page below a path of `PUBLIC_URL`, to which the links in mails lead.
    .replaceAll(/(?<= (?:href|src|data-account)=")\//g, '../');
  fastify.get('/account', { config: { noStore: true } }, (_, reply) => sendHtml(reply, page));
  // Password managers open it (https://w3c.github.io/webappsec-change-password-url/).
  fastify.get('/.well-known/change-password', (_, reply) => reply.redirect('/account/#password'));
}
