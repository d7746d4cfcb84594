import { AppError } from '../../../common/errors/errors.js';

interface Waiting {
  /** The client that waits; undefined for work that no client requested. */
  readonly holder: string | undefined;
  readonly start: () => void;
}

interface Limits {
  /** How many tasks run at once, over all lanes. */
  readonly concurrency: number;
  /** How many tasks may wait in one lane. */
  readonly capacity: number;
  /** How many of these one client may have. */
  readonly share: number;
}

/**
 * Runs a limited number of tasks at once. Further tasks wait in bounded lanes that take turns: a full lane
 * delays the others by one task at most. Within a lane, the first come is served first.
 */
export class WorkQueue<Lane extends string> {
  private running = 0;
  /** In the order of their turns. */
  private readonly lanes = new Map<Lane, Waiting[]>();

  constructor(private readonly limits: Limits) {}

  /** How many tasks are running. */
  get runningCount(): number {
    return this.running;
  }

  /** How many tasks wait in a lane. */
  waitingCount(lane: Lane): number {
    return this.lanes.get(lane)?.length ?? 0;
  }

  /**
   * @param holder the client that requested the task, such as its network
   * @throws AppError `SERVICE_UNAVAILABLE` at once, when the lane or the client's share of it is full
   */
  async run<T>(lane: Lane, holder: string | undefined, work: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.concurrency) this.running++;
    else await this.turn(lane, holder);
    try {
      return await work();
    } finally {
      // The place goes directly to the next task, so that no new one takes it.
      const next = this.next();
      if (next) next.start();
      else this.running--;
    }
  }

  private turn(lane: Lane, holder: string | undefined): Promise<void> {
    const waiting = this.lanes.get(lane) ?? [];
    this.lanes.set(lane, waiting);
    const held = holder === undefined ? 0 : waiting.filter((other) => other.holder === holder).length;
    if (waiting.length >= this.limits.capacity || held >= this.limits.share) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many requests with a password are waiting; retry later');
    }
    return new Promise((resolve) => waiting.push({ holder, start: resolve }));
  }

  private next(): Waiting | undefined {
    for (const [lane, waiting] of this.lanes) {
      const next = waiting.shift();
      if (!next) continue;
      // Moves the lane to the end of the turns.
      this.lanes.delete(lane);
      this.lanes.set(lane, waiting);
      return next;
    }
    return undefined;
  }
}
