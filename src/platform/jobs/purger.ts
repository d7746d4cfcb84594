import { Injectable, Logger } from '@nestjs/common';
import { Transactions } from '../database/transactions.js';
import { BackgroundTask, BackgroundTasks } from './background-task.js';
import { Clock } from './clock.js';

/** Between two purges, in milliseconds; up to half as much is added, so that replicas do not all start at once. */
const INTERVAL = 10 * 60_000;

type Task = () => Promise<{ readonly deleted: number; readonly isMore: boolean }>;

/** Rows in a transaction, so that other writes do not wait long. */
const BATCH = 500;

/** When rows expire: that many milliseconds after the time in a column, which has an index. */
interface Expiry {
  readonly column: string;
  readonly lifetime: number;
  /** A condition of rows that are kept however old they are. */
  readonly unless?: string;
}

/**
 * Deletes expired rows. A module registers its table, which has the columns `id` and
 * `expires_at` (with an index), or another column and a lifetime. Replicas may purge at once: one deletes each row.
 */
@Injectable()
export class Purger {
  private readonly tasks = new Map<string, Task>();
  private stopped = false;

  constructor(
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** @param table a name of the application, like the column: never text from outside */
  register(table: string, expiry: Expiry = { column: 'expires_at', lifetime: 0 }): void {
    this.registerTask(table, () => this.deleteExpired(table, expiry));
  }

  /** For data that does not expire row by row. @param name of what is deleted */
  registerTask(name: string, task: Task): void {
    this.tasks.set(name, task);
  }

  /**
   * @returns the number of deleted rows, by table
   * @throws the first error, after everything else was purged
   */
  async purge(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    let failure: { readonly error: unknown } | undefined;
    for (const [name, task] of this.tasks) {
      try {
        counts.set(name, await this.runTask(task));
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure) throw failure.error;
    return counts;
  }

  /** Ends a purge after its current batch, and all later ones. */
  stop(): void {
    this.stopped = true;
  }

  private async runTask(task: Task): Promise<number> {
    for (let count = 0; ;) {
      const { deleted, isMore } = await task();
      count += deleted;
      if (!isMore || this.stopped) return count;
    }
  }

  private async deleteExpired(
    table: string,
    { column, lifetime, unless = 'FALSE' }: Expiry,
  ): ReturnType<Task> {
    const end = new Date(this.clock.now().getTime() - lifetime).toISOString();
    const deleted = await this.transactions.run(async (manager) => {
      const expired = manager
        .createQueryBuilder()
        .select('row.id')
        .from(table, 'row')
        .where(`row.${column} <= :end`)
        .andWhere(`NOT (${unless})`)
        .orderBy(`row.${column}`)
        .addOrderBy('row.id')
        .limit(BATCH);
      const { affected } = await manager
        .createQueryBuilder()
        .delete()
        .from(table)
        .where(`id IN (${expired.getQuery()})`, { end })
        .execute();
      return affected ?? 0;
    });
    return { deleted, isMore: deleted === BATCH };
  }
}

/** Purges periodically. */
@Injectable()
export class PurgeSchedule extends BackgroundTask {
  constructor(
    private readonly purger: Purger,
    tasks: BackgroundTasks,
  ) {
    super(tasks, {
      logger: new Logger(Purger.name),
      failure: 'Expired data could not be purged; the next purge tries again',
      interval: INTERVAL * (1 + Math.random() / 2),
      run: () => purger.purge(),
    });
  }

  override stop(): Promise<void> {
    this.purger.stop();
    return super.stop();
  }
}
