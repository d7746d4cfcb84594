import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { readPage, readPublic, sendHtml, serveFiles } from '../common/http/browser-pages.js';
import { Config } from '../config/config.js';
import { toOpenApi30 } from './to-openapi-3-0.js';

/**
 * Serves the committed reference of the REST API as `/openapi.json`, the same
 * as `/openapi-3.0.json`, and `/docs`, which displays it.
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
    const document = readPublic('openapi.json');
    let older: string | undefined;
    const texts = {
      '/openapi.json': () => document,
      // Few clients need it, and the conversion would delay the start.
      '/openapi-3.0.json': () =>
        (older ??= JSON.stringify(toOpenApi30(JSON.parse(document) as OpenAPIObject))),
    };
    for (const [path, text] of Object.entries(texts)) {
      fastify.get(path, (_, reply) => reply.type('application/json; charset=utf-8').send(text()));
    }

    serveFiles(fastify, 'docs', '/docs/');
    const page = readPage('docs/index.html', '/docs', this.config.graphql.playground);
    fastify.get('/docs', (_, reply) => sendHtml(reply, page));
  }
}
