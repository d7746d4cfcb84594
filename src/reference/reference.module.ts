import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { readPublic, servePage } from '../common/http/browser-pages.js';

/**
 * Serves the reference of the REST API: `/openapi.json`, as it was made from the code and committed, and
 * `/docs`, which shows it.
 */
@Module({})
export class ReferenceModule implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const document = readPublic('openapi.json');
    fastify.get('/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(document));

    const sendPage = servePage(fastify, 'docs', '/docs/');
    fastify.get('/docs', (_, reply) => sendPage(reply));
  }
}
