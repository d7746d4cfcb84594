import { DEADLINE } from '../retry.js';

/** Who holds the mutex or waits for it. */
export interface Writer {
  /** Milliseconds since the epoch; `Infinity` during a statement. */
  readonly lastUsed: number;
  /** Rolls back and releases the mutex; later statements of this writer fail. */
  evict(): void;
}

/** How long a transaction may be idle while others wait to write, in milliseconds. */
const IDLE_LIMIT = 10_000;

/** Exclusive use of the writing connection, first come, first served. */
export class WriteMutex {
  /** Called with the time that each writer has waited, in seconds. */
  onWait: ((seconds: number) => void) | undefined;
  private holder: Writer | undefined;
  private readonly queue: { readonly writer: Writer; readonly start: () => void }[] = [];

  get isLocked(): boolean {
    return this.holder !== undefined;
  }

  get waitingCount(): number {
    return this.queue.length;
  }

  /** @throws Error `WRITE_TIMEOUT` when the mutex is not released within the deadline of a write */
  async acquire(writer: Writer): Promise<void> {
    if (!this.holder) {
      this.holder = writer;
      this.onWait?.(0);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const since = performance.now();
    const entry = {
      writer,
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

  /** Lets the next waiting writer share the mutex with its holder, if it is of this kind. It must not call `release`. */
  share<T extends Writer>(isOfKind: (writer: Writer) => writer is T): T | undefined {
    const [next] = this.queue;
    if (!next || !isOfKind(next.writer)) return undefined;
    this.queue.shift();
    next.start();
    return next.writer;
  }

  release(writer: Writer): void {
    if (this.holder !== writer) return;
    const next = this.queue.shift();
    this.holder = next?.writer;
    next?.start();
  }

  /** Otherwise a transaction that was never ended would block all writes. */
  private evictIdle(): void {
    if (this.holder && Date.now() - this.holder.lastUsed >= IDLE_LIMIT) this.holder.evict();
  }
}

const STILL_WRITING =
  'Another transaction is still in progress. SQLite has one writer at a time: a write that does not take part ' +
  'in the transaction around it, or a QueryRunner whose transaction was not ended, waits until this deadline';
