import { isMissingTable } from './failures.js';
import { migrations } from './migrations/index.js';
import type { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import type { Transactions } from './transactions.js';

/** One open database, whichever it is. */
export abstract class Database {
  abstract readonly source: ServiceDataSource;
  abstract readonly queries: Queries;
  abstract readonly transactions: Transactions;

  /** How many migrations of this build the schema does not have yet. Asks the database each time. */
  async pendingMigrations(): Promise<number> {
    const ran = await this.source
      .createQueryBuilder()
      .select('migration.name', 'name')
      .from('migrations', 'migration')
      .getRawMany<{ name: string }>()
      .catch((error: unknown) => {
        if (isMissingTable(error)) return [];
        throw error;
      });
    const names = new Set(ran.map(({ name }) => name));
    return migrations.filter(({ name }) => !names.has(name)).length;
  }

  abstract close(): Promise<void>;
}
