import { AsyncLocalStorage } from 'node:async_hooks';
import { isConflict, isStorageFault, retryConflicts, WRITE_DEADLINE } from '../failures.js';
import type { SqliteConnection } from './connection.js';

/** A user of the writing connection, or one that waits for it. */
export interface Writer {
  /** A time of `performance.now()`; `Infinity` during a statement. */
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
  /** Ends the wait of the members that have left. */
  timer: NodeJS.Timeout | undefined;
}

interface GroupHooks {
  readonly beforeBegin: () => Promise<void>;
  /** Throws to roll the group back. */
  readonly beforeCommit: () => void;
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
  private current: Writer | undefined;
  private group: Group | undefined;
  /** When the first write of this turn of the event loop began. */
  private turnSince: number | undefined;
  /** How many writes run in a group of their own, because their former group could not commit. */
  private separate = 0;
  /** A group belongs to no request: its statements must not count as those of a member. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly connection: SqliteConnection,
    private readonly hooks: GroupHooks,
  ) {}

  get isLocked(): boolean {
    return this.current !== undefined || this.group !== undefined;
  }

  get waitingCount(): number {
    return this.queue.length;
  }

  /** Whether the writer has the connection. */
  isHeldBy(writer: Writer): boolean {
    return this.current === writer;
  }

  /** Whether the writer has the connection as a member of a group. */
  isMember(writer: Writer): boolean {
    return this.current === writer && this.group !== undefined;
  }

  /** Waits for exclusive use. @throws Error `WRITE_TIMEOUT` when it does not begin within the deadline of a write */
  acquire(writer: Writer): Promise<void> {
    return this.wait(writer, false);
  }

  /** Ends the use of the connection, if the writer has it. */
  release(writer: Writer): void {
    if (this.current !== writer) return;
    this.current = undefined;
    this.startNext();
  }

  /**
   * Becomes a member of a group, and the only writer until {@link leave} or {@link undo}.
   *
   * @throws Error `WRITE_TIMEOUT` as {@link acquire}
   */
  async join(writer: Writer): Promise<void> {
    const since = performance.now();
    await this.wait(writer, true);
    try {
      if (!this.group) {
        await this.hooks.beforeBegin();
        // Waits while another process writes.
        await retryConflicts(async () => this.run('BEGIN IMMEDIATE'), since);
        this.group = { since: performance.now(), done: [], isDue: false, timer: undefined };
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
   * @throws the error of the commit; a conflict if other members have failed, so that the write is repeated
   */
  async leave(writer: Writer): Promise<void> {
    await this.end(writer, ['RELEASE member']);
  }

  /**
   * Rolls back the part of a member.
   *
   * @returns after the commit of the group: the member may have failed because of what another one has written
   * @throws a conflict as {@link leave}
   */
  async undo(writer: Writer): Promise<void> {
    if (!this.isMember(writer)) return;
    await this.end(writer, ['ROLLBACK TO member', 'RELEASE member']).catch((error: unknown) => {
      if (isConflict(error)) throw error;
    });
  }

  /** @throws Error if the savepoint cannot be ended, because an error has ended the transaction of all members */
  private async end(writer: Writer, statements: readonly string[]): Promise<void> {
    const group = this.group!;
    const done = Promise.withResolvers<void>();
    try {
      for (const sql of statements) this.connection.control(sql);
      group.done.push(done);
      group.timer ??= setTimeout(() => this.current?.evict(), WRITE_DEADLINE);
    } catch (error) {
      this.close(group);
      this.rollBack();
      this.reject(group, error, true);
      throw error;
    } finally {
      this.release(writer);
    }
    await done.promise;
  }

  /** Runs synchronous statements as a member of a group. It may run more than once. @returns after the commit */
  write<T>(work: () => T): Promise<T> {
    const inContext = AsyncLocalStorage.bind(work);
    return this.outside(() => retryConflicts(() => this.writeOnce(inContext)));
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
    if (!this.current && this.queue.length === 0 && !this.isTurnOver()) {
      if (this.group && !(isMember && this.hasRoom(this.group))) this.commit(this.group);
      this.current = writer;
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
    // Without a current, whose end would start it.
    if (!this.current) setImmediate(() => this.current ?? this.startNext());
    const timer = setTimeout(() => {
      this.evictIdle();
      if (this.current === writer) return;
      this.queue.splice(this.queue.indexOf(entry), 1);
      reject(Object.assign(new Error(STILL_WRITING), { code: 'WRITE_TIMEOUT' }));
    }, WRITE_DEADLINE);
    await promise.finally(() => clearTimeout(timer));
  }

  private startNext(): void {
    const next = this.queue.shift();
    const { group } = this;
    if (group && !(next?.isMember && this.hasRoom(group))) {
      if (next || group.isDue) this.commit(group);
      else this.commitSoon(group);
    }
    this.current = next?.writer;
    if (!next) return;
    // Otherwise all writes that wait would run before anything else is served: nothing between them waits.
    if (this.isTurnOver()) setImmediate(next.start);
    else next.start();
  }

  /** Whether writes have taken so much of this turn of the event loop that the next one has to wait for another turn. */
  private isTurnOver(): boolean {
    if (this.turnSince === undefined) {
      this.turnSince = performance.now();
      setImmediate(() => (this.turnSince = undefined));
    }
    return performance.now() - this.turnSince >= GROUP_LIMIT;
  }

  private hasRoom({ since, done }: Group): boolean {
    return performance.now() - since < GROUP_LIMIT && (this.separate === 0 || done.length === 0);
  }

  /** The writes of requests that have already arrived join the group. */
  private commitSoon(group: Group): void {
    setImmediate(() => {
      group.isDue = true;
      if (this.group === group && !this.current) this.commit(group);
    });
  }

  private commit(group: Group): void {
    this.close(group);
    this.separate = Math.max(0, this.separate - group.done.length);
    try {
      this.hooks.beforeCommit();
      this.run('COMMIT');
    } catch (error) {
      // Otherwise the transaction is over, and may have been stored: the writes must not run again.
      const isOpen = this.connection.inTransaction;
      this.rollBack();
      this.reject(group, error, isOpen && group.done.length > 1);
      return;
    }
    for (const { resolve } of group.done) resolve();
  }

  private close(group: Group): void {
    clearTimeout(group.timer);
    this.group = undefined;
  }

  /** @param mayRepeat whether each member may run again, in a group of its own: only one of them may have failed */
  private reject({ done }: Group, cause: unknown, mayRepeat: boolean): void {
    let error = cause;
    if (mayRepeat && !isStorageFault(cause)) {
      this.separate += done.length;
      error = Object.assign(new Error(ROLLED_BACK, { cause }), { code: 'SQLITE_BUSY' });
    }
    for (const { reject } of done) reject(error);
  }

  private rollBack(): void {
    try {
      if (this.connection.inTransaction) this.run('ROLLBACK');
    } catch {
      // After an error of the disk, SQLite has already rolled back.
    }
  }

  private run(sql: string): void {
    this.outside(() => this.connection.all(sql));
  }

  /** Otherwise a transaction that was never ended would block all writes. */
  private evictIdle(): void {
    if (this.current && performance.now() - this.current.lastUsed >= IDLE_LIMIT) this.current.evict();
  }
}

const ROLLED_BACK = 'Another write has rolled back the transaction of this one';

const STILL_WRITING =
  'Another transaction is still in progress. SQLite has one writer at a time: a write that does not take part ' +
  'in the transaction around it, or a QueryRunner whose transaction was not ended, waits until this deadline';
