import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { readPublic, sendHtml, serveFiles } from '../../common/http/browser-pages.js';
import { Config } from '../../config/config.js';

/**
 * Serves the page that links in mails open, unless a front end is configured. It acts only when its button is
 * pressed, because mail scanners follow links.
 */
@Injectable()
export class AccountPage implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    // An application context has no HTTP server.
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (!fastify || this.config.accountLinksUrl !== undefined) return;
    serveFiles(fastify, 'account', '/account/');
    const page = readPublic('account/index.html');
    fastify.get('/account', (_, reply) => sendHtml(reply.header('cache-control', 'no-store'), page));
  }
}
