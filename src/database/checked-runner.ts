import { QueryResult, type QueryRunner } from 'typeorm';
import { isWrite } from './companion.js';
import { traced } from './statement-span.js';

/** A runner whose transactions commit only if all of their statements succeeded. */
export interface CheckedRunner extends QueryRunner {
  /** @throws the error of a statement in the current transaction, unless a savepoint was rolled back after it */
  check(): void;
  /** Runs statements that bypass `query` with the same checks. */
  track<T>(statements: () => Promise<T>): Promise<T>;
  /** Whether the current transaction has changed rows, without those of savepoints that were rolled back. */
  hasChanged(): boolean;
  /** Counts a statement that bypasses `query`. */
  noteRows(sql: string, count: number): void;
}

/** Callbacks of a runner. */
interface RunnerHooks {
  /** Called with the error of each statement. */
  readonly onError: (error: unknown) => void;
  /** Whether a write outside of a transaction gets a transaction. */
  readonly isAccompanied?: () => boolean;
  /** Runs in each transaction that has changed rows, before its commit. @returns a callback for after the commit */
  readonly beforeCommit?: (runner: CheckedRunner) => Promise<() => void>;
}

/**
 * After a failed statement, PostgreSQL rejects all others and turns `COMMIT` into a rollback without an error;
 * SQLite commits the rest. Here the commit throws, on both. `release` rolls back an open transaction,
 * because the next user of the connection would write into it.
 *
 * @param runner a new one with no other user
 */
export function checkedRunner(
  runner: QueryRunner,
  { onError, isAccompanied, beforeCommit }: RunnerHooks,
): CheckedRunner {
  const system = runner.dataSource.options.type === 'postgres' ? 'postgresql' : 'sqlite';
  const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
  const startTransaction = runner.startTransaction.bind(runner);
  const commitTransaction = runner.commitTransaction.bind(runner);
  const rollbackTransaction = runner.rollbackTransaction.bind(runner);
  const release = runner.release.bind(runner);
  let depth = 0;
  /** The depth of the outermost change: a rollback undoes the changes below it. */
  let changeDepth = Infinity;
  let failure: { readonly error: unknown; readonly depth: number } | undefined;
  /** Transactions may be controlled by statements; `startTransaction` also sends one. */
  let isOpen = false;
  let alone: Promise<unknown> = Promise.resolve();
  const leave = (): void => {
    depth = Math.max(0, depth - 1);
    if (failure && failure.depth > depth) failure = undefined;
  };
  const track = async <T>(statements: () => Promise<T>): Promise<T> => {
    try {
      return await statements();
    } catch (error) {
      onError(error);
      if (depth > 0) failure ??= { error, depth };
      throw error;
    }
  };
  const check = (): void => {
    if (failure) throw failure.error;
  };

  const noteRows = (sql: string, count: number): void => {
    if (depth > 0 && count > 0 && isWrite(sql)) changeDepth = Math.min(changeDepth, depth);
  };
  const run = (parameters: unknown[]): Promise<unknown> => {
    const sql = String(parameters[0]);
    return track(() => traced(system, sql, () => query(...parameters))).then((result) => {
      noteRows(sql, rowsOf(result));
      if (BEGIN.test(sql)) isOpen = true;
      else if (END.test(sql)) isOpen = false;
      return result;
    });
  };
  /** A transaction for one statement; concurrent statements run one after the other. */
  const runInTransaction = (parameters: unknown[]): Promise<unknown> => {
    const turn = alone.then(async () => {
      await checked.startTransaction();
      try {
        const result = await run(parameters);
        await checked.commitTransaction();
        return result;
      } catch (error) {
        if (checked.isTransactionActive) await checked.rollbackTransaction().catch(() => undefined);
        throw error;
      }
    });
    alone = turn.catch(() => undefined);
    return turn;
  };

  const checked: CheckedRunner = Object.assign(runner, {
    check,
    track,
    noteRows,
    hasChanged: () => changeDepth < Infinity,
    query: (...parameters: unknown[]) => {
      const isAlone = isAccompanied && !isOpen && isWrite(String(parameters[0])) && isAccompanied();
      return isAlone ? runInTransaction(parameters) : run(parameters);
    },
    startTransaction: async (...parameters: Parameters<QueryRunner['startTransaction']>) => {
      try {
        await startTransaction(...parameters);
        if (depth++ === 0) changeDepth = Infinity;
      } catch (error) {
        // TypeORM counts a transaction that failed to begin as active, and would end it.
        if (depth === 0) Object.assign(runner, { isTransactionActive: false });
        throw error;
      }
    },
    commitTransaction: async () => {
      check();
      const onCommitted = depth === 1 && changeDepth < Infinity ? await beforeCommit?.(checked) : undefined;
      await commitTransaction();
      leave();
      if (changeDepth < Infinity) changeDepth = Math.min(changeDepth, depth);
      onCommitted?.();
    },
    rollbackTransaction: async () => {
      await rollbackTransaction();
      leave();
      if (changeDepth > depth) changeDepth = Infinity;
    },
    release: async () => {
      if (!runner.isReleased && runner.isTransactionActive) {
        await query('ROLLBACK').catch(() => undefined);
      }
      await release();
    },
  });
  return checked;
}

const BEGIN = /^\s*(?:BEGIN|START\s+TRANSACTION)\b/i;
const END = /^\s*(?:COMMIT|END|ROLLBACK(?!\s+TO))\b/i;

/** The number of rows of a result; infinite if unknown. */
const rowsOf = (result: unknown): number =>
  result instanceof QueryResult ? (result.affected ?? result.records.length) : 1;
