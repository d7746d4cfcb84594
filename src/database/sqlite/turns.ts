import { DEADLINE } from '../retry.js';

/** Whoever writes, and until when it was last seen to do so. */
export interface Writer {
  /** Milliseconds since the epoch; `Infinity` while a statement is under way. */
  readonly lastUsed: number;
  /** Rolls back and gives up the turn; whatever still comes from this writer fails. */
  evict(): void;
}

/** How long a transaction may do nothing while others wait to write, in milliseconds. */
const IDLE_LIMIT = 10_000;

/** Turns at the one connection that writes, first come first served. */
export class Turns {
  /** Sees how long each writer has waited, in seconds. */
  onWait: ((seconds: number) => void) | undefined;
  private current: Writer | undefined;
  private readonly waiting: { readonly writer: Writer; readonly start: () => void }[] = [];

  get isTaken(): boolean {
    return this.current !== undefined;
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Whether the turn was free, and is now this writer's. */
  tryTake(writer: Writer): boolean {
    if (this.current) return false;
    this.current = writer;
    this.onWait?.(0);
    return true;
  }

  /** @throws Error when others write for longer than a write is tried */
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

  give(writer: Writer): void {
    if (this.current !== writer) return;
    const next = this.waiting.shift();
    this.current = next?.writer;
    next?.start();
  }

  /** A transaction that somebody forgot to end would otherwise keep everyone from writing. */
  private evictIdle(): void {
    if (this.current && Date.now() - this.current.lastUsed >= IDLE_LIMIT) this.current.evict();
  }
}

const STILL_WRITING =
  'Another transaction is still under way. SQLite has one writer at a time: a write that does not take part ' +
  'in the transaction around it, or a QueryRunner whose transaction was not ended, waits until this deadline';
