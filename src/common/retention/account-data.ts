import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** An account that is being deleted. */
export interface DeletedAccount {
  readonly id: number;
  readonly email: string;
}

/** Removes what a module stores about an account, in the transaction that deletes the account. */
export type Erasure = (account: DeletedAccount, manager: EntityManager) => Promise<unknown>;

/**
 * Deletes personal data with its account. A module registers the erasure of its own tables, so that no module writes
 * those of another one.
 */
@Injectable()
export class AccountData {
  private readonly erasures: Erasure[] = [];

  register(...erasures: readonly Erasure[]): void {
    this.erasures.push(...erasures);
  }

  /** Call it in the transaction that deletes the account, before the account itself. */
  async erase(account: DeletedAccount, manager: EntityManager): Promise<void> {
    for (const erase of this.erasures) await erase(account, manager);
  }
}

/** Deletes the rows of an account, by their column `account_id`. @param table never text from outside */
export const rowsOf =
  (table: string): Erasure =>
  ({ id }, manager) =>
    manager.createQueryBuilder().delete().from(table).where('account_id = :id', { id }).execute();
