import { DEADLINE } from '../retry.js';

/** The current writer, and when it was last active. */
export interface Writer {
  /** Milliseconds since the epoch; `Infinity` during a statement. */
  readonly lastUsed: number;
  /** Rolls back and releases the turn; later statements of this writer fail. */
  evict(): void;
}

/** How long a transaction may be idle while others wait to write, in milliseconds. */
const IDLE_LIMIT = 10_000;

/** Turns on the writing connection, first come, first served. */
export class Turns {
  /** Called with the time that each writer has waited, in seconds. */
  onWait: ((seconds: number) => void) | undefined;
  private current: Writer | undefined;
  private readonly waiting: { readonly writer: Writer; readonly start: () => void }[] = [];

  get isTaken(): boolean {
    return this.current !== undefined;
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Whether the turn was free, and now belongs to this writer. */
  private tryTake(writer: Writer): boolean {
    if (this.current) return false;
    this.current = writer;
    this.onWait?.(0);
    return true;
  }

  /** @throws Error when the turn does not come within the deadline of a write */
  async take(writer: Writer): Promise<void> {
    if (this.tryTake(writer)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const since = performance.now();
    const entry = {
      writer,
      start: () => {
        this.onWait?.((performance.now() - since) / 1000);
        resolve();
      },
    };
    this.waiting.push(entry);
    const timer = setTimeout(() => {
      this.evictIdle();
      if (this.current === writer) return;
      this.waiting.splice(this.waiting.indexOf(entry), 1);
      reject(Object.assign(new Error(STILL_WRITING), { code: 'WRITE_TIMEOUT' }));
    }, DEADLINE);
    await promise.finally(() => clearTimeout(timer));
  }

  /** Lets the next waiting writer share the current turn, if it is of this kind. It must not call `give`. */
  include<T extends Writer>(isOfKind: (writer: Writer) => writer is T): T | undefined {
    const [next] = this.waiting;
    if (!next || !isOfKind(next.writer)) return undefined;
    this.waiting.shift();
    next.start();
    return next.writer;
  }

  give(writer: Writer): void {
    if (this.current !== writer) return;
    const next = this.waiting.shift();
    this.current = next?.writer;
    next?.start();
  }

  /** Otherwise a transaction that was never ended would block all writes. */
  private evictIdle(): void {
    if (this.current && Date.now() - this.current.lastUsed >= IDLE_LIMIT) this.current.evict();
  }
}

const STILL_WRITING =
  'Another transaction is still under way. SQLite has one writer at a time: a write that does not take part ' +
  'in the transaction around it, or a QueryRunner whose transaction was not ended, waits until this deadline';
