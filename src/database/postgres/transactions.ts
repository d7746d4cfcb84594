import { POSTGRES } from '../dialect.js';
import type { Parameters } from '../parameters.js';
import { retryCollisions } from '../retry.js';
import { type DeferredSteps, type Statement, Transactions } from '../transactions.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import type { PostgresDataSource } from './data-source.js';
import type { ServicePostgresRunner } from './driver.js';

/** Transactions on PostgreSQL: each has its own connection of the pool. */
export class PostgresTransactions extends Transactions {
  constructor(private readonly postgres: PostgresDataSource) {
    super(postgres);
  }

  protected autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    const { statements, driver } = this.postgres;
    return retryCollisions(() => statements.all<Row>(sql, parameters, driver.master));
  }

  /** In one packet. The second statement has a later snapshot than the lock, so it sees what its last owner has committed. */
  protected async beginWith(
    runner: ServiceQueryRunner,
    { lock, first }: Pick<DeferredSteps<never>, 'lock' | 'first'>,
  ): Promise<unknown[] | undefined> {
    const locking = { sql: `SELECT ${POSTGRES.tryLock(':lock')} AS "isLocked"`, parameters: { lock } };
    const results = await (runner as ServicePostgresRunner).startTransactionWith([locking, first]);
    return results[0]!.rows[0].isLocked ? results[1]!.rows : undefined;
  }

  /** In one packet. */
  protected commit(runner: ServiceQueryRunner, last: readonly Statement[]): Promise<void> {
    return (runner as ServicePostgresRunner).commitTransactionWith(last);
  }
}
