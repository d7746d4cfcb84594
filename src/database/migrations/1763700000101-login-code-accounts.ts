import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** Finds the one-time codes of an account, which its deletion and the end of its logins delete. */
export class LoginCodeAccounts1763700000101 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createIndexConcurrently(runner, 'login_codes_account_id', 'login_codes (account_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX login_codes_account_id');
  }
}
