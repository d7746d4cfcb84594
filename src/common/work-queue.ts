import { AppError } from './errors/errors.js';

interface Waiting {
  /** The client that waits; undefined for work that no client requested. */
  readonly holder: string | undefined;
  readonly start: () => void;
}

interface Limits {
  /** How many tasks run at once, of all kinds. */
  readonly concurrency: number;
  /** How many tasks of one kind may wait. */
  readonly capacity: number;
  /** How many of these one client may have. */
  readonly share: number;
}

/**
 * Runs a limited number of tasks at once. Further tasks wait in a bounded queue for each kind; the queues are served in
 * rotation (round robin), so that a full one delays the others by one task at most. Within a queue, the first come is
 * served first.
 */
export class WorkQueue<Kind extends string> {
  private running = 0;
  /** In the order of their rotation. */
  private readonly queues = new Map<Kind, Waiting[]>();

  constructor(private readonly limits: Limits) {}

  /** How many tasks are running. */
  get runningCount(): number {
    return this.running;
  }

  /** How many tasks of a kind wait. */
  waitingCount(kind: Kind): number {
    return this.queues.get(kind)?.length ?? 0;
  }

  /**
   * @param holder the client that requested the task, such as its network
   * @throws AppError `SERVICE_UNAVAILABLE` at once, when the queue of the kind or the client's share of it is full
   */
  async run<T>(kind: Kind, holder: string | undefined, work: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.concurrency) this.running++;
    else await this.enqueue(kind, holder);
    try {
      return await work();
    } finally {
      // The place goes directly to the next task, so that no new one takes it.
      const next = this.next();
      if (next) next.start();
      else this.running--;
    }
  }

  private enqueue(kind: Kind, holder: string | undefined): Promise<void> {
    const waiting = this.queues.get(kind) ?? [];
    this.queues.set(kind, waiting);
    const held = holder === undefined ? 0 : waiting.filter((other) => other.holder === holder).length;
    if (waiting.length >= this.limits.capacity || held >= this.limits.share) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many requests with a password are waiting; retry later');
    }
    return new Promise((resolve) => waiting.push({ holder, start: resolve }));
  }

  private next(): Waiting | undefined {
    for (const [kind, waiting] of this.queues) {
      const next = waiting.shift();
      if (!next) continue;
      // Moves the queue to the end of the rotation.
      this.queues.delete(kind);
      this.queues.set(kind, waiting);
      return next;
    }
    return undefined;
  }
}
