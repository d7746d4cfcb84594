import { AppError } from './errors/errors.js';

interface Limits {
  /** How many tasks run at once, of all kinds. */
  readonly concurrency: number;
  /** How many tasks of one kind may wait: of one client, a quarter of it. */
  readonly capacity: number;
  /** How long a task may wait, in milliseconds. */
  readonly patience?: number;
  /** What a client reads whose task may not wait. */
  readonly full: string;
}

interface Task {
  readonly start: () => void;
  readonly timeout?: NodeJS.Timeout | undefined;
}

/** The waiting tasks of one kind, by client. Maps have the order of the rotation. */
type TasksByClient = Map<string | undefined, Task[]>;

/**
 * Runs a limited number of tasks at once. Further tasks wait in a bounded queue for each kind. The kinds are served in
 * rotation (round robin), and so are the clients of a kind, those with the fewest running tasks first: whoever fills a
 * queue delays the others by one task at most.
 */
export class WorkQueue<Kind extends string> {
  /** The clients of the running tasks. */
  private readonly running: (string | undefined)[] = [];
  private readonly queues = new Map<Kind, TasksByClient>();

  constructor(private readonly limits: Limits) {}

  get runningCount(): number {
    return this.running.length;
  }

  waitingCount(kind: Kind): number {
    let count = 0;
    for (const tasks of this.queues.get(kind)?.values() ?? []) count += tasks.length;
    return count;
  }

  /**
   * @param client who requested the task, such as its network; undefined for work that no client requested
   * @param left aborts when nobody needs the task any more: it leaves the queue, and the promise rejects
   * @throws AppError `SERVICE_UNAVAILABLE` at once, when the queue of the kind or the client's share of it is full, and
   * when the task has waited for too long
   */
  async run<T>(
    kind: Kind,
    client: string | undefined,
    work: () => Promise<T>,
    left?: AbortSignal,
  ): Promise<T> {
    if (this.running.length < this.limits.concurrency) this.running.push(client);
    else await this.enqueue(kind, client, left);
    try {
      return await work();
    } finally {
      // The client still counts, so that another one comes next.
      this.startNext();
      this.running.splice(this.running.indexOf(client), 1);
    }
  }

  private enqueue(kind: Kind, client: string | undefined, left: AbortSignal | undefined): Promise<void> {
    const { capacity, patience, full } = this.limits;
    const clients: TasksByClient = this.queues.get(kind) ?? new Map();
    const tasks = clients.get(client) ?? [];
    if (this.waitingCount(kind) >= capacity || (client !== undefined && tasks.length >= capacity / 4)) {
      throw new AppError('SERVICE_UNAVAILABLE', full);
    }
    this.queues.set(kind, clients);
    clients.set(client, tasks);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        const place = tasks.indexOf(task);
        if (place === -1) return;
        tasks.splice(place, 1);
        clearTimeout(task.timeout);
        if (tasks.length === 0) clients.delete(client);
        if (clients.size === 0) this.queues.delete(kind);
        reject(new AppError('SERVICE_UNAVAILABLE', full));
      };
      const task: Task = {
        start: resolve,
        timeout: patience === undefined ? undefined : setTimeout(giveUp, patience),
      };
      tasks.push(task);
      left?.addEventListener('abort', giveUp);
    });
  }

  private startNext(): void {
    for (const [kind, clients] of this.queues) {
      const [client, tasks] = [...clients].reduce((best, next) =>
        this.runningOf(next[0]) < this.runningOf(best[0]) ? next : best,
      );
      const next = tasks.shift()!;
      // Both go to the end of the rotation, unless nothing of them waits.
      clients.delete(client);
      if (tasks.length > 0) clients.set(client, tasks);
      this.queues.delete(kind);
      if (clients.size > 0) this.queues.set(kind, clients);
      clearTimeout(next.timeout);
      this.running.push(client);
      next.start();
      return;
    }
  }

  private runningOf(client: string | undefined): number {
    return this.running.filter((other) => other === client).length;
  }
}
