import { AppError } from '../../../common/errors/errors.js';

/** Runs at most so many pieces of work at once, first come first served, with a bounded queue behind them. */
export class WorkQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly concurrency: number,
    private readonly capacity: number,
  ) {}

  /** @throws AppError `SERVICE_UNAVAILABLE` at once, when the queue is full */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.concurrency) this.running++;
    else await this.turn();
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line, so that nobody slips in between.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }

  private turn(): Promise<void> {
    if (this.waiting.length >= this.capacity) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many are logging in at once, please retry');
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
