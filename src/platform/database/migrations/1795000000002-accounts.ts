import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** The constraint of a column `account_id`. */
const ofAccount = (table: string) =>
  `CONSTRAINT "${table}_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")`;

/** Accounts, and each way to log in. Of secrets that only have to be compared, hashes are stored. */
export class Accounts1795000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp, boolean } = columnTypes(runner);
    const no = isSqlite(runner) ? '0' : 'false';
    await runner.query(`
      CREATE TABLE accounts (
        "id" ${id},
        email ${text} NOT NULL,
        email_key ${text} NOT NULL,
        name ${text} NOT NULL,
        name_folded ${text} NOT NULL,
        phone ${text} NOT NULL,
        password_hash ${text} NOT NULL,
        password_changed_at ${timestamp} NOT NULL,
        is_active ${boolean} NOT NULL,
        is_staff ${boolean} NOT NULL,
        is_superuser ${boolean} NOT NULL,
        is_email_verified ${boolean} NOT NULL,
        is_owner_confirmed ${boolean} NOT NULL DEFAULT ${no},
        has_second_factor ${boolean} NOT NULL DEFAULT ${no},
        date_joined ${timestamp} NOT NULL,
        verify_until ${timestamp},
        last_login_at ${timestamp}
      )`);
    await runner.query('CREATE UNIQUE INDEX accounts_email_key ON accounts (email_key)');
    await runner.query('CREATE INDEX accounts_verify_until ON accounts (verify_until)');

    await runner.query(`
      CREATE TABLE sessions (
        "id" ${text} PRIMARY KEY NOT NULL,
        account_id ${integer} NOT NULL,
        kind ${text} NOT NULL,
        refresh_jti ${text},
        previous_jti ${text},
        secret_hash ${text},
        address ${text} NOT NULL,
        agent ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        last_used_at ${timestamp} NOT NULL,
        authenticated_at ${timestamp},
        expires_at ${timestamp} NOT NULL,
        ${ofAccount('sessions')}
      )`);
    await runner.query('CREATE INDEX sessions_account_id ON sessions (account_id)');
    await runner.query(`
      CREATE TABLE one_time_secrets (
        "id" ${text} PRIMARY KEY NOT NULL,
        purpose ${text} NOT NULL,
        account_id ${integer},
        email ${text},
        password_changed_at ${timestamp},
        code_challenge ${text},
        attempts ${integer} NOT NULL DEFAULT 0,
        expires_at ${timestamp},
        ${ofAccount('one_time_secrets')}
      )`);
    await runner.query('CREATE INDEX one_time_secrets_account_id ON one_time_secrets (account_id)');
    await runner.query(`
      CREATE TABLE counters (
        "id" ${text} PRIMARY KEY NOT NULL,
        count ${integer} NOT NULL,
        next_at ${timestamp},
        expires_at ${timestamp} NOT NULL
      )`);

    await runner.query(`
      CREATE TABLE social_identities (
        "id" ${id},
        account_id ${integer} NOT NULL,
        provider ${text} NOT NULL,
        subject ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        added_unconfirmed ${boolean} NOT NULL DEFAULT ${no},
        ${ofAccount('social_identities')}
      )`);
    await runner.query(
      'CREATE UNIQUE INDEX social_identities_provider_subject ON social_identities (provider, subject)',
    );
    await runner.query('CREATE INDEX social_identities_account_id ON social_identities (account_id)');

    await runner.query(`
      CREATE TABLE totp_factors (
        "account_id" ${integer} PRIMARY KEY NOT NULL,
        secret ${text} NOT NULL,
        last_step ${integer} NOT NULL,
        wrong_codes ${integer} NOT NULL DEFAULT 0,
        confirmed_at ${timestamp},
        created_at ${timestamp} NOT NULL,
        added_unconfirmed ${boolean} NOT NULL DEFAULT ${no},
        ${ofAccount('totp_factors')}
      )`);

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
        added_unconfirmed ${boolean} NOT NULL DEFAULT ${no},
        ${ofAccount('passkeys')}
      )`);
    await runner.query('CREATE UNIQUE INDEX passkeys_credential_id ON passkeys (credential_id)');
    await runner.query('CREATE INDEX passkeys_account_id ON passkeys (account_id)');
    await runner.query(`
      CREATE TABLE api_keys (
        "id" ${id},
        account_id ${integer} NOT NULL,
        name ${text} NOT NULL,
        prefix ${text} NOT NULL,
        scope ${text} NOT NULL,
        key_hash ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        last_used_at ${timestamp},
        expires_at ${timestamp},
        ${ofAccount('api_keys')}
      )`);
    await runner.query('CREATE UNIQUE INDEX api_keys_key_hash ON api_keys (key_hash)');
    await runner.query('CREATE INDEX api_keys_account_id ON api_keys (account_id)');

    for (const table of PURGED)
      await runner.query(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES.split(' ').toReversed()) await runner.query(`DROP TABLE ${table}`);
  }
}

/** The tables with rows that expire. */
const PURGED = ['sessions', 'one_time_secrets', 'counters'];

const TABLES = 'accounts sessions one_time_secrets counters social_identities totp_factors passkeys api_keys';
