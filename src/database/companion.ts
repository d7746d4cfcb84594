/** Writes something with every change that is made where it wants to, in the transaction of the change. */
export interface Companion {
  /** Whether there is something to write with a change that is made here. */
  isWanted(): boolean;
  /**
   * Called right before the commit of a transaction that has changed rows. It may run again after a collision.
   *
   * @param subjects what the unit of work has named, see `Transactions.about`
   */
  write(subjects: readonly string[]): Promise<void>;
}

const WRITE =
  /^\s*(?:(?:INSERT|UPDATE|DELETE|REPLACE|MERGE|TRUNCATE)\b|WITH\b.*?(?<!\bFOR )\b(?:INSERT|UPDATE|DELETE|MERGE)\b)/is;

/** Whether a statement may change rows, by its first word. */
export const isWrite = (sql: string): boolean => WRITE.test(sql);
