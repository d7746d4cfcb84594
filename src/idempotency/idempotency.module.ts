import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Metrics } from '../common/metrics/metrics.js';
import { Purger } from '../common/purge/purger.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyScope } from './idempotency-scope.js';
import { completePendingResponses } from './pending-response.js';

/** Where responses are stored and purged. */
export const RECORDS_TABLE = 'idempotency_records';

/** Idempotent requests. It depends on no feature; features decorate their handlers. */
@Global()
@Module({
  providers: [IdempotencyService, IdempotencyScope],
  exports: [IdempotencyService, IdempotencyScope],
})
export class IdempotencyModule implements OnModuleInit {
  constructor(
    purger: Purger,
    private readonly host: HttpAdapterHost,
    private readonly metrics: Metrics,
  ) {
    purger.register(RECORDS_TABLE);
  }

  onModuleInit(): void {
    // An application context has no HTTP server.
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (fastify) completePendingResponses(fastify, this.metrics);
  }
}
