/** Adds writes to the transactions of other modules' changes. */
export interface Companion {
  /** Whether a change in the current asynchronous context needs such a write. */
  isWanted(): boolean;
  /**
   * Called right before the commit of a transaction that has changed rows; called again if the transaction is retried.
   *
   * @param subjects the subjects that the unit of work has named, see `Transactions.about`
   */
  write(subjects: readonly string[]): Promise<void>;
}

const WRITE =
  /^\s*(?:(?:INSERT|UPDATE|DELETE|REPLACE|MERGE|TRUNCATE)\b|WITH\b.*?(?<!\bFOR )\b(?:INSERT|UPDATE|DELETE|MERGE)\b)/is;

/** Whether a statement may change rows, by its first word. */
export const isWrite = (sql: string): boolean => WRITE.test(sql);
