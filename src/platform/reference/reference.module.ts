import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { readPage, sendHtml, serveFiles } from './site/pages.js';
import { Config } from '../config/config.js';

/**
 * Serves the committed reference of the REST API as `/openapi.json`, as it holds for `WRITE_ACCESS`
 * (`npm run build` creates the files), and `/docs`, which displays it.
 */
@Module({})
export class ReferenceModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    // An application context has no HTTP server.
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (!fastify) return;
    const mode = this.config.writeAccess === 'open' ? 'open' : 'accounts';
    serveFiles(fastify, `reference/${mode}`, '/', 'no-cache');
    serveFiles(fastify, 'docs', '/docs/');
    const page = readPage('docs/index.html', { path: '/docs' }, this.config);
    fastify.get('/docs', (_, reply) => sendHtml(reply, page));
  }
}
