import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { Encryption, ENCRYPTED_PREFIX_LENGTH } from './encryption.js';

interface EncryptedColumn {
  readonly table: string;
  readonly column: string;
  /** The column of the primary key. */
  readonly id: string;
}

/** The columns with encrypted values; each module registers its own. */
@Injectable()
export class EncryptedColumns implements OnApplicationBootstrap {
  private readonly logger = new Logger('Encryption');
  private readonly columns: EncryptedColumn[] = [];

  constructor(
    private readonly encryption: Encryption,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly config: Config,
  ) {}

  /**
   * The purpose of the values in {@link Encryption.encrypt} is `table.column`.
   *
   * @param names of a table and its column, never text from outside
   */
  register(table: string, column: string, id = 'id'): void {
    this.columns.push({ table, column, id });
  }

  /**
   * Decrypts a value of a row. If a former key has encrypted it, it is stored again under the current one.
   *
   * @throws Error when no key decrypts it, or it is not encrypted
   */
  async decrypt(table: string, column: string, row: number, stored: string): Promise<string> {
    const purpose = `${table}.${column}`;
    const text = this.encryption.decrypt(stored, purpose);
    if (!this.encryption.isCurrent(stored)) {
      const { id } = this.columns.find((each) => each.table === table && each.column === column)!;
      // Unless it has changed meanwhile.
      await this.transactions.execute(
        `UPDATE ${table} SET ${column} = :renewed WHERE ${id} = :row AND ${column} = :stored RETURNING ${id}`,
        { renewed: this.encryption.encrypt(text, purpose), row, stored },
      );
    }
    return text;
  }

  /** Logs how many stored values still need a former key, and how many cannot be read. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.serves) return;
    try {
      for (const column of this.columns) await this.report(column);
    } catch (error) {
      // The database is away, or its schema is older.
      this.logger.warn({ msg: 'The values that need a former key could not be counted', err: error });
    }
  }

  private async report({ table, column }: EncryptedColumn): Promise<void> {
    const groups = await this.queries.all<{ prefix: string; count: number }>(
      `SELECT substr(${column}, 1, ${ENCRYPTED_PREFIX_LENGTH}) AS prefix, count(*) AS count FROM ${table}
       WHERE ${column} IS NOT NULL GROUP BY 1`,
    );
    const counts = new Map<string | undefined, number>();
    for (const { prefix, count } of groups) {
      const key = this.encryption.keyOf(prefix);
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
    for (const [key, count] of counts) {
      const state = key === undefined ? 'plain' : this.encryption.stateOf(key);
      const values = `${count} of ${table}.${column}`;
      if (state === 'former')
        this.logger.warn(`${values} need the former key ${key}: each is encrypted again when it is used`);
      if (state === 'unknown')
        this.logger.error(
          `${values} need the key ${key}, which is not configured: set ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS`,
        );
      if (state === 'plain') this.logger.error(`${values} are not encrypted, so they are not used`);
    }
  }
}
