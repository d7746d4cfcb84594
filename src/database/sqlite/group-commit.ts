import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { retryCollisions } from '../retry.js';
import type { SqliteConnection } from './connection.js';
import type { WriteMutex, Writer } from './write-mutex.js';

/** How long a group runs before it commits, in milliseconds: the event loop waits for the end of a group. */
const LIMIT = 5;

class Write implements Writer {
  /** It is never idle, so it is never evicted. */
  readonly lastUsed = Infinity;
  readonly since = Date.now();
  /** Whether another write has included it in its group. */
  isIncluded = false;

  /** @param run runs the statements in the context of the caller */
  constructor(
    readonly run: () => unknown,
    readonly resolve: (value: unknown) => void,
    readonly reject: (error: unknown) => void,
  ) {}

  evict(): void {}
}

const isWrite = (writer: Writer): writer is Write => writer instanceof Write;

/**
 * Commits the writes of concurrent requests in one transaction (group commit): a commit takes longer than a write,
 * because it completes the search index and waits for the disk. A write that gets the mutex also runs the writes that
 * wait directly behind it. Each has its own savepoint, so that its error affects no other write.
 */
export class GroupCommit {
  /** A group belongs to no request: its statements must not count as those of its first write. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly connection: SqliteConnection,
    private readonly mutex: WriteMutex,
  ) {}

  /**
   * Runs statements and commits them, together with those of concurrent callers.
   *
   * @param work synchronous, only with effects on the database; it runs again if its group could not commit
   * @returns after the commit
   * @throws the error of the work or of the commit; `WRITE_TIMEOUT` if it does not get the mutex within the deadline
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      const write = new Write(AsyncLocalStorage.bind(work), resolve, reject);
      void this.outside(() => this.commit(write));
    }) as Promise<T>;
  }

  private async commit(write: Write): Promise<void> {
    try {
      await this.mutex.acquire(write);
      if (!write.isIncluded) await this.lead(write);
    } catch (error) {
      write.reject(error);
    }
  }

  private async lead(first: Write): Promise<void> {
    try {
      // The writes of requests that have already arrived join the group.
      await setImmediate();
      await this.begin(first);
      await this.commitGroup(first);
    } finally {
      this.mutex.release(first);
    }
  }

  private async commitGroup(first: Write): Promise<void> {
    const group = [first];
    try {
      const reports = this.runGroup(group);
      if (reports && this.tryCommit()) {
        for (const report of reports) report();
      } else {
        await this.runOneByOne(group);
      }
    } catch (error) {
      // Those that have their result already ignore it.
      for (const { reject } of group) reject(error);
    }
  }

  /** @returns functions that report the results; `undefined` if an error has ended the transaction */
  private runGroup(group: Write[]): (() => void)[] | undefined {
    const reports: (() => void)[] = [];
    const end = performance.now() + LIMIT;
    try {
      for (const write of group) {
        reports.push(this.runInSavepoint(write));
        const next = performance.now() < end ? this.mutex.share(isWrite) : undefined;
        if (!next) break;
        next.isIncluded = true;
        group.push(next);
      }
      return reports;
    } catch {
      return undefined;
    }
  }

  /** @throws if an error has ended the transaction */
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

  /** @returns false if the transaction could not commit and is still open @throws if it is over */
  private tryCommit(): boolean {
    try {
      this.connection.all('COMMIT');
      return true;
    } catch (error) {
      if (!this.connection.inTransaction) throw error;
      return false;
    }
  }

  /** Each caller gets the result of its own write. */
  private async runOneByOne(group: readonly Write[]): Promise<void> {
    this.rollBack();
    for (const write of group) {
      await setImmediate();
      await this.runByItself(write);
    }
  }

  private async runByItself(write: Write): Promise<void> {
    try {
      await this.begin(write);
      const value = write.run();
      this.connection.all('COMMIT');
      write.resolve(value);
    } catch (error) {
      write.reject(error);
      this.rollBack();
    }
  }

  /** Waits while another process writes, until the deadline of the write. */
  private begin({ since }: Write): Promise<unknown> {
    return retryCollisions(async () => this.connection.all('BEGIN IMMEDIATE'), since);
  }

  private rollBack(): void {
    if (this.connection.inTransaction) this.connection.all('ROLLBACK');
  }
}
