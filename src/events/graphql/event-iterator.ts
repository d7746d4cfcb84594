import { AppError } from '../../platform/http/errors/errors.js';
import type { EventFilter, StoredEvent } from '../../platform/changes/stored-event.js';
import type { EventBatch } from '../../platform/changes/event-log.js';

/** 1 MiB: the maximum of data that waits for a slow consumer, in bytes. */
const MAX_WAITING = 1024 * 1024;

const TOO_SLOW =
  'More than 1 MiB of events was waiting for you; read the feed from the last event that you have, and subscribe again';

const OVER = { done: true, value: undefined } as const;

/** New events for one consumer. One that is too slow gets an error, and may continue with the feed or the stream. */
export class EventIterator implements AsyncIterableIterator<StoredEvent> {
  private readonly waiting: StoredEvent[] = [];
  private bytes = 0;
  private taker: PromiseWithResolvers<IteratorResult<StoredEvent>> | undefined;
  private isOver = false;
  private failure: unknown;
  /** Of the last event before the subscription. */
  private start = 0;

  constructor(
    private readonly filter: EventFilter,
    private readonly onEnd: () => void,
  ) {}

  /** Omits the events up to a position, also those that have arrived. Call it before the first `next`. */
  startAfter(position: number): void {
    this.start = position;
    const later = this.waiting.filter((event) => event.position > position);
    this.waiting.splice(0, Infinity, ...later);
    this.bytes = later.reduce((sum, { json }) => sum + json.length, 0);
  }

  accept({ events }: EventBatch): void {
    for (const event of events) {
      if (event.position > this.start && this.filter.accepts(event)) this.add(event);
    }
  }

  next(): Promise<IteratorResult<StoredEvent>> {
    const event = this.waiting.shift();
    if (event) {
      this.bytes -= event.json.length;
      return Promise.resolve({ done: false, value: event });
    }
    const { failure } = this;
    if (failure !== undefined) {
      this.failure = undefined;
      return Promise.reject(failure);
    }
    if (this.isOver) return Promise.resolve(OVER);
    this.taker = Promise.withResolvers();
    return this.taker.promise;
  }

  return(): Promise<IteratorResult<StoredEvent>> {
    this.end();
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Without an error, it would look as if there were no more events. */
  fail(error: unknown): void {
    if (this.isOver) return;
    const { taker } = this;
    this.taker = undefined;
    if (taker) taker.reject(error);
    else this.failure = error;
    this.end();
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.waiting.length = 0;
    this.taker?.resolve(OVER);
    this.onEnd();
  }

  private add(event: StoredEvent): void {
    if (this.isOver) return;
    const { taker } = this;
    if (taker) {
      this.taker = undefined;
      taker.resolve({ done: false, value: event });
      return;
    }
    this.waiting.push(event);
    this.bytes += event.json.length;
    if (this.bytes <= MAX_WAITING) return;
    this.fail(new AppError('SERVICE_UNAVAILABLE', TOO_SLOW));
  }
}
