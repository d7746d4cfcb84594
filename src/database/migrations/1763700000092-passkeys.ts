import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Passkeys, and the challenges of WebAuthn that were used. */
export class Passkeys1763700000092 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE passkeys (
        "id" ${id},
        account_id ${integer} NOT NULL,
        credential_id ${text} NOT NULL,
        public_key ${text} NOT NULL,
        counter ${integer} NOT NULL,
        transports ${text} NOT NULL,
        name ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        last_used_at ${timestamp},
        CONSTRAINT "passkeys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE UNIQUE INDEX passkeys_credential_id ON passkeys (credential_id)');
    await runner.query('CREATE INDEX passkeys_account_id ON passkeys (account_id)');
    await runner.query(`
      CREATE TABLE used_challenges (
        "id" ${text} PRIMARY KEY NOT NULL,
        expires_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX used_challenges_expires_at ON used_challenges (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE used_challenges');
    await runner.query('DROP TABLE passkeys');
  }
}
