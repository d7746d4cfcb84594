import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Transactions } from '../platform/database/transactions.js';
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
  /** Keeps the flush outside of the reader's transaction. */
  private readonly outside = AsyncLocalStorage.snapshot();
  private readonly logger = new Logger(ViewCounter.name);
  private pending = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;
  private flushing = Promise.resolve();

  constructor(
    private readonly transactions: Transactions,
    registry: Registry,
  ) {
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
    this.schedule();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flushing;
    await this.flush();
  }

  private schedule(): void {
    this.timer ??= this.outside(() =>
      setTimeout(() => {
        this.flushing = this.flush();
      }, DELAY).unref(),
    );
  }

  /** Counts that could not be written are kept for the next flush. */
  private async flush(): Promise<void> {
    clearTimeout(this.timer);
    // In the order of ids, so that replicas that update the same posts cannot deadlock.
    const counts = [...this.pending].toSorted(([a], [b]) => a - b);
    this.pending = new Map();
    try {
      while (counts.length > 0) {
        await this.write(counts.slice(0, BATCH));
        counts.splice(0, BATCH);
      }
    } catch (error) {
      this.logger.warn({
        msg: 'Views could not be written; they are retried with the next batch',
        err: error,
      });
      for (const [id, count] of counts) this.pending.set(id, (this.pending.get(id) ?? 0) + count);
    }
    this.timer = undefined;
    if (this.pending.size > 0) this.schedule();
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
