import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { traceRequests } from './trace-requests.js';
import { TracingInterceptor } from './tracing.interceptor.js';

/** Spans for requests, handlers and resolvers; imported only if tracing is configured. */
@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: TracingInterceptor }] })
export class TracingModule {
  constructor({ httpAdapter }: HttpAdapterHost) {
    // Hooks of modules run before all others, so the span includes them.
    const fastify = httpAdapter?.getInstance<FastifyInstance>();
    if (fastify) traceRequests(fastify);
  }
}
