import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { listPublic, readPage, readPublic, sendHtml, serveFiles } from '../common/http/browser-pages.js';
import { Config } from '../config/config.js';
import { HealthModule } from '../health/health.module.js';
import { HomeController } from './home.controller.js';

/** The pages for people: `/`, the guides, and the icon that browsers request. */
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
    serveFiles(fastify, 'site', '/site/');
    const icon = readPublic('site/favicon.svg');
    fastify.get('/favicon.ico', (_, reply) =>
      reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(icon),
    );

    const frame = readPage('site/guide.html', '/guides', this.config.graphql.playground);
    for (const file of listPublic('guides', '**/*.html')) {
      const html = inFrame(frame, readPublic(`guides/${file}`));
      const path = file === 'index.html' ? '/guides' : `/guides/${file.replace(/\.html$/, '')}`;
      fastify.get(path, (_, reply) => sendHtml(reply, html));
    }
  }
}

/** The HTML is created by `npm run build` from the guides, so it is trusted. */
function inFrame(frame: string, text: string): string {
  const title = /<h1[^>]*>(.*?)<\/h1>/.exec(text)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? 'Guides';
  return frame.replace('<!-- title -->', () => title).replace('<!-- text -->', () => text);
}
