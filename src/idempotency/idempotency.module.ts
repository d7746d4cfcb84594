import { Global, Module } from '@nestjs/common';
import { Purger } from '../common/purge/purger.js';
import { IdempotencyService } from './idempotency.service.js';
import { Identities } from './identities.js';

/** Where answers are kept, and purged from. */
export const RECORDS_TABLE = 'idempotency_records';

/** Requests that are safe to repeat. It knows no feature: these decorate their handlers. */
@Global()
@Module({ providers: [IdempotencyService, Identities], exports: [IdempotencyService, Identities] })
export class IdempotencyModule {
  constructor(purger: Purger) {
    purger.register(RECORDS_TABLE);
  }
}
