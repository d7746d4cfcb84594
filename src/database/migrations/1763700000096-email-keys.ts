import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DatabaseError } from '../failures.js';

interface AccountRow {
  readonly id: number;
  readonly email_key: string;
}

/**
 * The keys of e-mail addresses are composed (NFC) after they are in lower case, and have one form of the letter sigma:
 * before, some addresses that differ in letter case had different keys.
 */
export class EmailKeys1763700000096 implements MigrationInterface {
  /** @throws DatabaseError when two accounts have the same key now */
  async up(runner: QueryRunner): Promise<void> {
    // Only characters outside of ASCII take more than one byte.
    const accounts: AccountRow[] = await runner.query(
      'SELECT id, email_key FROM accounts WHERE octet_length(email_key) <> length(email_key) ORDER BY id',
    );
    const known = new Map<string, number>();
    for (const { id, email_key } of accounts) {
      const key = email_key.replaceAll('ς', 'σ').normalize('NFC');
      const other = known.get(key);
      if (other !== undefined) {
        throw new DatabaseError(
          `The accounts ${other} and ${id} have the same e-mail address in different letter case; ` +
            'delete one of them, or change its address, with the version that ran before, and start again',
        );
      }
      known.set(key, id);
    }
    const { driver } = runner.dataSource;
    const update = `UPDATE accounts SET email_key = ${driver.createParameter('key', 0)} WHERE id = ${driver.createParameter('id', 1)}`;
    for (const [key, id] of known) await runner.query(update, [key, id]);
  }

  /** The earlier version reads the new keys as well, except for the addresses whose keys have changed. */
  async down(): Promise<void> {}
}
