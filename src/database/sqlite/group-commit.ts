import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { retryCollisions } from '../retry.js';
import type { SqliteConnection } from './connection.js';
import type { Turns, Writer } from './turns.js';

/** How long a group accepts further writes, in milliseconds: the event loop waits for the end of a group. */
const LIMIT = 5;

interface Write {
  /** Runs its statements in the context of its caller. */
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** It never waits for anything but the database. */
const WRITER: Writer = { lastUsed: Infinity, evict: () => undefined };

/**
 * Commits the writes of concurrent requests in one transaction (group commit): a commit takes longer than a write,
 * because it completes the search index and waits for the disk. Each write has its own savepoint, so that its
 * error affects no other write.
 */
export class GroupCommit {
  private readonly waiting: Write[] = [];
  private readonly outside = AsyncLocalStorage.snapshot();
  private isActive = false;

  constructor(
    private readonly connection: SqliteConnection,
    private readonly turns: Turns,
  ) {}

  /** The writes that wait with the one that has asked for a turn. */
  get waitingCount(): number {
    return Math.max(0, this.waiting.length - 1);
  }

  /**
   * Runs statements and commits them, together with those of concurrent callers.
   *
   * @param work synchronous; it runs again if the commit of its group fails
   * @returns after the commit
   * @throws the error of the work or of the commit
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.waiting.push({ run: AsyncLocalStorage.bind(work), resolve, reject });
      if (!this.isActive) void this.outside(() => this.commitAll());
    }) as Promise<T>;
  }

  private async commitAll(): Promise<void> {
    this.isActive = true;
    while (this.waiting.length > 0) {
      // Requests that have already arrived join the group.
      await setImmediate();
      await this.commitInTurn();
    }
    this.isActive = false;
  }

  private async commitInTurn(): Promise<void> {
    const start = Date.now();
    let count = this.waiting.length;
    try {
      await this.turns.take(WRITER);
      try {
        count = Infinity;
        await this.begin(start);
        await this.commitGroup();
      } finally {
        this.turns.give(WRITER);
      }
    } catch (error) {
      // Without a turn, later writes have not waited until the deadline.
      for (const { reject } of this.waiting.splice(0, count)) reject(error);
    }
  }

  private async commitGroup(): Promise<void> {
    const group: Write[] = [];
    const reports: (() => void)[] = [];
    const end = performance.now() + LIMIT;
    try {
      for (let write; performance.now() < end && (write = this.waiting.shift());) {
        group.push(write);
        reports.push(this.runInSavepoint(write));
      }
      this.connection.all('COMMIT');
    } catch {
      // Each caller gets the error of its own write.
      this.rollBack();
      for (const write of group) await this.runAlone(write);
      return;
    }
    for (const report of reports) report();
  }

  /** @returns reports the result, to be called after the commit @throws if an error has ended the transaction */
  private runInSavepoint({ run, resolve, reject }: Write): () => void {
    const { connection } = this;
    connection.all('SAVEPOINT one_write');
    try {
      const value = run();
      connection.all('RELEASE one_write');
      return () => resolve(value);
    } catch (error) {
      connection.all('ROLLBACK TO one_write');
      connection.all('RELEASE one_write');
      return () => reject(error);
    }
  }

  private async runAlone({ run, resolve, reject }: Write): Promise<void> {
    try {
      await this.begin();
      const value = run();
      this.connection.all('COMMIT');
      resolve(value);
    } catch (error) {
      this.rollBack();
      reject(error);
    }
  }

  /** Waits while another process writes. */
  private begin(start?: number): Promise<unknown> {
    return retryCollisions(async () => this.connection.all('BEGIN IMMEDIATE'), start);
  }

  private rollBack(): void {
    if (this.connection.inTransaction) this.connection.all('ROLLBACK');
  }
}
