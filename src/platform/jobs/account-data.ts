import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** An account whose data is deleted or exported. */
export interface DataOwner {
  readonly id: number;
  readonly email: string;
}

/** Removes what a module stores about an account, in the transaction that deletes the account. */
export type Erasure = (account: DataOwner, manager: EntityManager) => Promise<unknown>;

/** Reads what a module stores about an account, for its owner and without secrets, in batches of views. */
export type Export = (account: DataOwner) => AsyncIterable<readonly object[]>;

/**
 * The personal data of accounts. A module registers the erasure and the export of its own tables, so that no module
 * uses those of another one.
 */
@Injectable()
export class AccountData {
  private readonly erasures: Erasure[] = [];
  private readonly exports = new Map<string, Export>();

  register(...erasures: readonly Erasure[]): void {
    this.erasures.push(...erasures);
  }

  /** @param name of the member of the export */
  registerExport(name: string, read: Export): void {
    this.exports.set(name, read);
  }

  /** Call it in the transaction that deletes the account, before the account itself. */
  async erase(account: DataOwner, manager: EntityManager): Promise<void> {
    for (const erase of this.erasures) await erase(account, manager);
  }

  /** The lists of everything that is stored about an account, by the names of their members. */
  *lists(account: DataOwner): Generator<[name: string, batches: AsyncIterable<readonly object[]>]> {
    for (const [name, read] of this.exports) yield [name, read(account)];
  }
}

/** An export of rows that are few enough to be read at once. */
export const exportOf = <Row>(
  read: (accountId: number) => Promise<readonly Row[]>,
  toView: (row: Row) => object,
): Export =>
  async function* ({ id }) {
    yield (await read(id)).map(toView);
  };

/** Deletes the rows of an account, by their column `account_id`. @param table never text from outside */
export const rowsOf =
  (table: string): Erasure =>
  ({ id }, manager) =>
    manager.createQueryBuilder().delete().from(table).where('account_id = :id', { id }).execute();
