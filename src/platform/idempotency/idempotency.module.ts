import { Module } from '@nestjs/common';
import { Purger } from '../jobs/purger.js';
import { IdempotencyRecords } from './idempotency-records.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyScope } from './idempotency-scope.js';

/** Idempotent requests. It depends on no feature; features decorate their handlers. */
@Module({
  providers: [IdempotencyRecords, IdempotencyScope, IdempotencyService],
  exports: [IdempotencyService],
})
export class IdempotencyModule {
  constructor(purger: Purger) {
    purger.register('idempotency_records');
  }
}
