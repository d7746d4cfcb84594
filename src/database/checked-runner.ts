import type { QueryRunner } from 'typeorm';
import { traced } from './statement-span.js';

/** A runner whose transactions end as their statements went. */
export interface CheckedRunner extends QueryRunner {
  /** @throws what a statement of the current transaction met, unless a savepoint took that back */
  check(): void;
  /** Runs statements that go past `query`, as those that do not. */
  track<T>(statements: () => Promise<T>): Promise<T>;
}

/**
 * After a failed statement PostgreSQL refuses all others and turns `COMMIT` into a rollback without an error;
 * SQLite commits the rest. Here the commit throws, on both. `release` ends a transaction that nobody ended,
 * into which the next user of the connection would write.
 *
 * @param runner a new one, that nobody else has
 * @param onError sees the error of each statement
 */
export function checkedRunner(runner: QueryRunner, onError: (error: unknown) => void): CheckedRunner {
  const system = runner.dataSource.options.type === 'postgres' ? 'postgresql' : 'sqlite';
  const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
  const startTransaction = runner.startTransaction.bind(runner);
  const commitTransaction = runner.commitTransaction.bind(runner);
  const rollbackTransaction = runner.rollbackTransaction.bind(runner);
  const release = runner.release.bind(runner);
  let depth = 0;
  let failure: { readonly error: unknown; readonly depth: number } | undefined;
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

  return Object.assign(runner, {
    check,
    track,
    query: (...parameters: unknown[]) =>
      track(() => traced(system, String(parameters[0]), () => query(...parameters))),
    startTransaction: async (...parameters: Parameters<QueryRunner['startTransaction']>) => {
      try {
        await startTransaction(...parameters);
        depth++;
      } catch (error) {
        // TypeORM counts one that could not begin as active, and would end it.
        if (depth === 0) Object.assign(runner, { isTransactionActive: false });
        throw error;
      }
    },
    commitTransaction: async () => {
      check();
      await commitTransaction();
      leave();
    },
    rollbackTransaction: async () => {
      await rollbackTransaction();
      leave();
    },
    release: async () => {
      if (!runner.isReleased && runner.isTransactionActive) {
        await query('ROLLBACK').catch(() => undefined);
      }
      await release();
    },
  });
}
