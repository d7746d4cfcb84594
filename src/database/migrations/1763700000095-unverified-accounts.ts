import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** Finds the accounts whose e-mail was not verified in time, without blocking writes while it is created. */
export class UnverifiedAccounts1763700000095 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(runner, 'accounts_verify_until', 'accounts (verify_until)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX accounts_verify_until');
  }
}
