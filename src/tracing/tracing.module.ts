import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TracingInterceptor } from './tracing.interceptor.js';

/** Spans for handlers and resolvers; imported only if tracing is configured. The pipeline has those of requests. */
@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: TracingInterceptor }] })
export class TracingModule {}
