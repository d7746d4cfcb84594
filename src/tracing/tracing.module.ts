import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { traceRequests } from './trace-requests.js';
import { TracingInterceptor } from './tracing.interceptor.js';

/** Spans for requests, handlers and resolvers; only part of the application where it is traced. */
@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: TracingInterceptor }] })
export class TracingModule {
  constructor({ httpAdapter }: HttpAdapterHost) {
    // Hooks of modules come before all others, which so are within the span.
    const fastify = httpAdapter?.getInstance<FastifyInstance>();
    if (fastify) traceRequests(fastify);
  }
}
