import { AppError } from '../../../common/errors/errors.js';

interface Waiting {
  /** Who waits; unknown for work that no client asked for. */
  readonly holder: string | undefined;
  readonly start: () => void;
}

interface Limits {
  /** Pieces of work at once, over all lanes. */
  readonly concurrency: number;
  /** Pieces of work that wait in one lane. */
  readonly capacity: number;
  /** How many of these one holder may have. */
  readonly share: number;
}

/**
 * Runs at most so many pieces of work at once. Behind them wait bounded lanes that take turns: however full one
 * is, the next in the others comes within a turn. A lane is first come, first served.
 */
export class WorkQueue<Lane extends string> {
  private running = 0;
  /** In the order of their turns. */
  private readonly lanes = new Map<Lane, Waiting[]>();

  constructor(private readonly limits: Limits) {}

  /** How much work is under way. */
  get runningCount(): number {
    return this.running;
  }

  /** How much work waits in a lane. */
  waitingCount(lane: Lane): number {
    return this.lanes.get(lane)?.length ?? 0;
  }

  /**
   * @param holder who asks for the work, such as a client's network
   * @throws AppError `SERVICE_UNAVAILABLE` at once, when the lane or the holder's share of it is full
   */
  async run<T>(lane: Lane, holder: string | undefined, work: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.concurrency) this.running++;
    else await this.turn(lane, holder);
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line, so that nobody slips in between.
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
      // To the end of the turns.
      this.lanes.delete(lane);
      this.lanes.set(lane, waiting);
      return next;
    }
    return undefined;
  }
}
