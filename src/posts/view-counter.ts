import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Transactions } from '../platform/database/transactions.js';
import { type BackgroundTask, BackgroundTasks } from '../platform/jobs/background-task.js';
import { PostViews } from './post-views.entity.js';

/** From the first view of a batch until it is written, in milliseconds. */
const DELAY = 3000;

/** The number of posts in one statement. */
const BATCH = 200;

/**
 * Counts views of posts. A write for each view would cost far more than the read, so counts
 * are collected in memory and written together, at the latest when the process stops.
 */
@Injectable()
export class ViewCounter implements OnApplicationShutdown {
  private readonly task: BackgroundTask;
  private pending = new Map<number, number>();

  constructor(
    private readonly transactions: Transactions,
    registry: Registry,
    tasks: BackgroundTasks,
  ) {
    this.task = tasks.repeat({
      logger: new Logger(ViewCounter.name),
      failure: 'Views could not be written; they are retried with the next batch',
      interval: Infinity,
      run: () => this.flush(),
    });
    const size = () => this.pending.size;
    new Gauge({
      name: 'post_views_pending_posts',
      help: 'Posts whose reads are counted and not written yet',
      registers: [registry],
      collect() {
        this.set(size());
      },
    });
  }

  count(postId: number): void {
    this.pending.set(postId, (this.pending.get(postId) ?? 0) + 1);
    this.task.wake(DELAY);
  }

  /** The last requests have been answered. */
  onApplicationShutdown(): Promise<void> {
    return this.task.runNow();
  }

  /** Counts that could not be written are kept for the next flush. */
  private async flush(): Promise<void> {
    // In the order of ids, so that replicas that update the same posts cannot deadlock.
    const counts = [...this.pending].toSorted(([a], [b]) => a - b);
    this.pending = new Map();
    try {
      while (counts.length > 0) {
        await this.write(counts.slice(0, BATCH));
        counts.splice(0, BATCH);
      }
    } catch (error) {
      for (const [id, count] of counts) this.pending.set(id, (this.pending.get(id) ?? 0) + count);
      this.task.wake(DELAY);
      throw error;
    }
  }

  private async write(counts: readonly (readonly [id: number, count: number])[]): Promise<void> {
    // Integers of stored rows, so they may be part of the text.
    const cases = counts.map(([id, count]) => `WHEN ${id} THEN ${count}`).join(' ');
    const ids = counts.map(([id]) => id);
    await this.transactions.run((manager) =>
      manager
        .createQueryBuilder()
        .update(PostViews)
        .set({ views: () => `views + CASE post_id ${cases} END` })
        .where('post_id IN (:...ids)', { ids })
        .execute(),
    );
  }
}
