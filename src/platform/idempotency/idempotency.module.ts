import { Module } from '@nestjs/common';
import { AccountData, type Erasure } from '../access/index.js';
import { Purger } from '../jobs/purger.js';
import { IdempotencyRecords } from './idempotency-records.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyScope } from './idempotency-scope.js';

/** Where responses are stored and purged. */
const RECORDS_TABLE = 'idempotency_records';

/** Deletes the stored responses to an account: that of the registration contains the account. */
const eraseResponses: Erasure = ({ id }, manager) =>
  manager
    .createQueryBuilder()
    .delete()
    .from(RECORDS_TABLE)
    .where('id IN (SELECT record_id FROM idempotency_accounts WHERE account_id = :id)', { id })
    .execute();

/** Idempotent requests. It depends on no feature; features decorate their handlers. */
@Module({
  providers: [IdempotencyRecords, IdempotencyScope, IdempotencyService],
  exports: [IdempotencyService],
})
export class IdempotencyModule {
  constructor(purger: Purger, accountData: AccountData) {
    accountData.register({ onDeletion: eraseResponses });
    purger.register(RECORDS_TABLE);
  }
}
