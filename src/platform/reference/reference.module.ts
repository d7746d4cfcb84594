import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config/config.js';
import { SERVICE } from '../config/package.js';
import { HomeController } from './site/home.controller.js';
import { hasPage } from './site/header.js';
import { serveGuides } from './site/guide-pages.js';
import { APP_HEADERS, readPage, sendHtml } from './site/pages.js';
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
    serveGuides(fastify, config);
    if (hasApp) serveApp(fastify, config);
  }
}

function serveReference(fastify: FastifyInstance, config: Config): void {
  const mode = config.writeAccess === 'open' ? 'open' : 'accounts';
  serveFiles(fastify, `reference/${mode}`, '/', 'no-cache');
  const page = readPage('site/reference.html', { path: '/docs' }, config);
  fastify.get('/docs', (_, reply) => sendHtml(reply, page, APP_HEADERS));
}

/**
 * The pages that are built from `web`: the account page, unless a front end has it, to which links in mails lead, and the
 * console for staff.
 */
function serveApp(fastify: FastifyInstance, config: Config): void {
  // The names of these files change with their content.
  serveFiles(fastify, 'app/assets', '/app/assets/', 'public, max-age=31536000, immutable');
  for (const name of ['account', 'admin'].filter((each) => hasPage(`/${each}/`, config))) {
    const page = readPage(`app/${name}.html`, {}, config)
      .replaceAll('<!-- service -->', SERVICE.title)
      .replace('<!-- password policy -->', config.passwordPolicy)
      .replace('<!-- registration -->', config.registrationOpen ? 'open' : 'closed')
      // A proxy may serve the page below a path of `PUBLIC_URL`, to which the links in mails lead.
      .replaceAll(/(?<= (?:href|src|data-account)=")\//g, '../')
      .replaceAll(/(?<= (?:href|src)=")\.\//g, '../app/');
    fastify.get(`/${name}`, { config: { noStore: true } }, (_, reply) => sendHtml(reply, page, APP_HEADERS));
  }
  // Password managers open it (https://w3c.github.io/webappsec-change-password-url/).
  if (hasPage('/account/', config))
    fastify.get('/.well-known/change-password', (_, reply) => reply.redirect('/account/#password'));
}
