import { AppError } from './errors/errors.js';

interface Limits {
  /** How many tasks run at once, of all kinds. */
  readonly concurrency: number;
  /** How many tasks of one kind may wait: of one client, a quarter of it. */
  readonly capacity: number;
  /** What a client reads whose task may not wait. */
  readonly full: string;
}

/** The tasks of one kind that wait, by client. Maps have the order of the rotation. */
type Waiting = Map<string | undefined, (() => void)[]>;

/**
 * Runs a limited number of tasks at once. Further tasks wait in a bounded queue for each kind. The kinds are served in
 * rotation (round robin), and so are the clients of a kind: whoever fills a queue delays the others by one task at most.
 */
export class WorkQueue<Kind extends string> {
  private running = 0;
  private readonly queues = new Map<Kind, Waiting>();

  constructor(private readonly limits: Limits) {}

  /** How many tasks are running. */
  get runningCount(): number {
    return this.running;
  }

  /** How many tasks of a kind wait. */
  waitingCount(kind: Kind): number {
    let count = 0;
    for (const tasks of this.queues.get(kind)?.values() ?? []) count += tasks.length;
    return count;
  }

  /**
   * @param holder the client that requested the task, such as its network; undefined for work that no client requested
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
      if (next) next();
      else this.running--;
    }
  }

  private enqueue(kind: Kind, holder: string | undefined): Promise<void> {
    const { capacity, full } = this.limits;
    const clients = this.queues.get(kind) ?? new Map();
    const tasks = clients.get(holder) ?? [];
    if (this.waitingCount(kind) >= capacity || (holder !== undefined && tasks.length >= capacity / 4)) {
      throw new AppError('SERVICE_UNAVAILABLE', full);
    }
    this.queues.set(kind, clients);
    clients.set(holder, tasks);
    return new Promise((resolve) => tasks.push(resolve));
  }

  private next(): (() => void) | undefined {
    for (const [kind, clients] of this.queues) {
      for (const [holder, tasks] of clients) {
        const next = tasks.shift();
        // Both go to the end of the rotation, unless nothing of them waits.
        clients.delete(holder);
        if (tasks.length > 0) clients.set(holder, tasks);
        this.queues.delete(kind);
        if (clients.size > 0) this.queues.set(kind, clients);
        return next;
      }
    }
    return undefined;
  }
}
