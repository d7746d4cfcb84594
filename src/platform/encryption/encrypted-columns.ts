import { Injectable } from '@nestjs/common';
import { ConfigError } from '../config/config-error.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { Encryption, PREFIX_LENGTH } from './encryption.js';

interface EncryptedColumn {
  readonly table: string;
  readonly column: string;
  readonly id: string;
}

const BATCH = 500;

/** The columns with encrypted values; each module registers its own. */
@Injectable()
export class EncryptedColumns {
  private readonly columns: EncryptedColumn[] = [];

  constructor(
    private readonly encryption: Encryption,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
  ) {}

  /**
   * The purpose of the values in {@link Encryption.encrypt} is `table.column`.
   *
   * @param names of a table and its columns, never text from outside
   */
  register(table: string, columns: readonly string[], id = 'id'): void {
    this.columns.push(...columns.map((column) => ({ table, column, id })));
  }

  /** @throws ConfigError when stored values need a key that is not configured */
  async check(): Promise<void> {
    for (const { table, column } of this.columns) {
      const prefixes = await this.queries.all<{ prefix: string }>(
        `SELECT DISTINCT substr(${column}, 1, ${PREFIX_LENGTH}) AS prefix FROM ${table} WHERE ${column} IS NOT NULL`,
        {},
      );
      if (prefixes.every(({ prefix }) => this.encryption.isReadable(prefix))) continue;
      throw new ConfigError(
        `ENCRYPTION_KEY and JWT_SECRET decrypt not all values of ${table}.${column}: set ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS to the key that encrypted them`,
      );
    }
  }

  /**
   * Encrypts all values with the current key, also those that are not encrypted yet. A value that changes meanwhile
   * is encrypted by that change.
   *
   * @returns the number of changed values
   */
  async reencrypt(): Promise<number> {
    let count = 0;
    for (const column of this.columns) count += await this.reencryptColumn(column);
    return count;
  }

  private async reencryptColumn({ table, column, id }: EncryptedColumn): Promise<number> {
    const purpose = `${table}.${column}`;
    let count = 0;
    for (let after = 0; ;) {
      const rows = await this.queries.all<{ id: number; value: string }>(
        `SELECT ${id} AS id, ${column} AS value FROM ${table}
         WHERE ${id} > :after AND ${column} IS NOT NULL ORDER BY ${id} LIMIT ${BATCH}`,
        { after },
      );
      for (const { id: row, value } of rows.filter((each) => !this.encryption.isCurrent(each.value))) {
        const renewed = this.encryption.encrypt(this.encryption.decrypt(value, purpose), purpose);
        const changed = await this.transactions.execute(
          `UPDATE ${table} SET ${column} = :renewed WHERE ${id} = :row AND ${column} = :value RETURNING ${id}`,
          { renewed, row, value },
        );
        count += changed.length;
      }
      if (rows.length < BATCH) return count;
      after = rows.at(-1)!.id;
    }
  }
}
