import { AsyncLocalStorage } from 'node:async_hooks';
import { DEADLINE, retryCollisions } from '../retry.js';
import type { SqliteConnection } from './connection.js';

/** Who writes or waits for that. */
export interface Writer {
  /** Milliseconds since the epoch; `Infinity` during a statement. */
  readonly lastUsed: number;
  /** Rolls back and ends its use of the connection; later statements of this writer fail. */
  evict(): void;
}

interface Entry {
  readonly writer: Writer;
  readonly isMember: boolean;
  readonly start: () => void;
}

/** A transaction whose members commit together. */
interface Group {
  readonly since: number;
  /** The members that have left, and wait for the commit. */
  readonly done: PromiseWithResolvers<void>[];
  /** Whether it commits as soon as its current member leaves. */
  isDue: boolean;
}

/** How long a transaction may be idle while others wait to write, in milliseconds. */
const IDLE_LIMIT = 10_000;

/** The age at which a group accepts no more members, in milliseconds: the event loop waits for the end of a group. */
const GROUP_LIMIT = 5;

/** A synchronous write is never idle, so it is never evicted. */
const SYNCHRONOUS: Pick<Writer, 'lastUsed' | 'evict'> = { lastUsed: Infinity, evict: () => undefined };

/**
 * The queue for the writing connection, first come, first served. A writer uses the connection exclusively, or as a
 * member of a group that commits in one transaction (group commit): a commit takes longer than a write, because it
 * completes the search index and waits for the disk. Each member has a savepoint, so that its error affects no other.
 */
export class WriteQueue {
  /** Called with the time that each writer has waited, in seconds. */
  onWait: ((seconds: number) => void) | undefined;
  private readonly queue: Entry[] = [];
  private holder: Writer | undefined;
  private group: Group | undefined;
  /** How many members run in a group of their own, because their group could not commit. */
  private alone = 0;
  /** A group belongs to no request: its statements must not count as those of a member. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(private readonly connection: SqliteConnection) {}

  get isLocked(): boolean {
    return this.holder !== undefined || this.group !== undefined;
  }

  get waitingCount(): number {
    return this.queue.length;
  }

  /** Waits for exclusive use. @throws Error `WRITE_TIMEOUT` when it does not begin within the deadline of a write */
  acquire(writer: Writer): Promise<void> {
    return this.wait(writer, false);
  }

  /** Ends the use of the connection, if the writer has it. */
  release(writer: Writer): void {
    if (this.holder !== writer) return;
    this.holder = undefined;
    this.startNext();
  }

  /**
   * Becomes a member of a group, and the only writer until {@link leave} or {@link undo}.
   *
   * @throws Error `WRITE_TIMEOUT` as {@link acquire}
   */
  async join(writer: Writer): Promise<void> {
    const since = Date.now();
    await this.wait(writer, true);
    try {
      if (!this.group) {
        // Waits while another process writes.
        await retryCollisions(async () => this.run('BEGIN IMMEDIATE'), since);
        this.group = { since: performance.now(), done: [], isDue: false };
      }
      this.connection.control('SAVEPOINT member');
    } catch (error) {
      this.release(writer);
      throw error;
    }
  }

  /**
   * Ends the part of a member.
   *
   * @returns after the commit of the group
   * @throws the error of the commit; a collision if other members have failed, so that the write is repeated
   */
  async leave(writer: Writer): Promise<void> {
    this.connection.control('RELEASE member');
    await this.end(writer);
  }

  /**
   * Rolls back the part of a member.
   *
   * @returns after the commit of the group: the member may have failed because of what another one has written
   * @throws a collision as {@link leave}
   */
  async undo(writer: Writer): Promise<void> {
    const { group } = this;
    if (this.holder !== writer || !group) return;
    if (this.connection.inTransaction) {
      this.connection.control('ROLLBACK TO member');
      this.connection.control('RELEASE member');
      await this.end(writer);
      return;
    }
    // An error has ended the transaction of all members.
    this.group = undefined;
    this.repeat(group, undefined);
    this.release(writer);
  }

  private end(writer: Writer): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.group!.done.push(done);
    this.release(writer);
    return done.promise;
  }

  /** Runs synchronous statements as a member of a group. It may run more than once. @returns after the commit */
  write<T>(work: () => T): Promise<T> {
    const inContext = AsyncLocalStorage.bind(work);
    return this.outside(() => retryCollisions(() => this.writeOnce(inContext)));
  }

  private async writeOnce<T>(work: () => T): Promise<T> {
    const writer = { ...SYNCHRONOUS };
    await this.join(writer);
    let value: T;
    try {
      value = work();
    } catch (error) {
      await this.undo(writer);
      throw error;
    }
    await this.leave(writer);
    return value;
  }

  private async wait(writer: Writer, isMember: boolean): Promise<void> {
    if (!this.holder) {
      if (this.group && !(isMember && this.hasRoom(this.group))) this.commit(this.group);
      this.holder = writer;
      this.onWait?.(0);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const since = performance.now();
    const entry = {
      writer,
      isMember,
      start: () => {
        this.onWait?.((performance.now() - since) / 1000);
        resolve();
      },
    };
    this.queue.push(entry);
    const timer = setTimeout(() => {
      this.evictIdle();
      if (this.holder === writer) return;
      this.queue.splice(this.queue.indexOf(entry), 1);
      reject(Object.assign(new Error(STILL_WRITING), { code: 'WRITE_TIMEOUT' }));
    }, DEADLINE);
    await promise.finally(() => clearTimeout(timer));
  }

  private startNext(): void {
    const next = this.queue.shift();
    const { group } = this;
    if (group && !(next?.isMember && this.hasRoom(group))) {
      if (next || group.isDue) this.commit(group);
      else this.commitSoon(group);
    }
    this.holder = next?.writer;
    next?.start();
  }

  private hasRoom({ since, done }: Group): boolean {
    return performance.now() - since < GROUP_LIMIT && (this.alone === 0 || done.length === 0);
  }

  /** The writes of requests that have already arrived join the group. */
  private commitSoon(group: Group): void {
    setImmediate(() => {
      group.isDue = true;
      if (this.group === group && !this.holder) this.commit(group);
    });
  }

  private commit(group: Group): void {
    const { done } = group;
    this.group = undefined;
    this.alone = Math.max(0, this.alone - done.length);
    try {
      this.run('COMMIT');
    } catch (error) {
      // Otherwise the transaction is over, and may have been stored: the writes must not run again.
      const isOpen = this.connection.inTransaction;
      if (isOpen) this.run('ROLLBACK');
      if (isOpen && done.length > 1) this.repeat(group, error);
      else for (const { reject } of done) reject(error);
      return;
    }
    for (const { resolve } of done) resolve();
  }

  /** Each member runs again, in a group of its own: one of them may have failed. */
  private repeat({ done }: Group, cause: unknown): void {
    this.alone = done.length;
    const error = new Error('Another write has rolled back the transaction of this one', { cause });
    for (const { reject } of done) reject(Object.assign(error, { code: 'SQLITE_BUSY' }));
  }

  private run(sql: string): void {
    this.outside(() => this.connection.all(sql));
  }

  /** Otherwise a transaction that was never ended would block all writes. */
  private evictIdle(): void {
    if (this.holder && Date.now() - this.holder.lastUsed >= IDLE_LIMIT) this.holder.evict();
  }
}

const STILL_WRITING =
  'Another transaction is still in progress. SQLite has one writer at a time: a write that does not take part ' +
  'in the transaction around it, or a QueryRunner whose transaction was not ended, waits until this deadline';
