import { setTimeout as sleep } from 'node:timers/promises';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { isTemporary } from '../database/failures.js';
import { EncryptedColumns } from './encrypted-columns.js';
import { Encryption } from './encryption.js';

/** As often, one second apart, as the service tries to connect to its database. */
const ATTEMPTS = 15;

/** Encryption of stored secrets that must be read back. It depends on no module that has such secrets. */
@Module({
  providers: [EncryptedColumns, Encryption],
  exports: [EncryptedColumns, Encryption],
})
export class EncryptionModule implements OnApplicationBootstrap {
  constructor(
    private readonly columns: EncryptedColumns,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** Checks that the stored values can be decrypted. @throws ConfigError when a key is missing */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.serves) return;
    for (let attempt = 1; ; attempt++) {
      try {
        // An older schema may not have the columns yet; requests are rejected until it is migrated.
        if ((await this.database.pendingMigrations()) === 0) await this.columns.check();
        return;
      } catch (error) {
        // A server that is overloaded for a moment must not end the start.
        if (!isTemporary(error) || attempt === ATTEMPTS) throw error;
        await sleep(1000);
      }
    }
  }
}
