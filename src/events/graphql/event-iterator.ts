import type { EventFilter } from '../event-filter.js';
import type { EventBatch } from '../event-log.js';
import type { StoredEvent } from '../stored-event.js';

/** 1 MiB: what may wait for a slow consumer, in bytes. */
const MAX_WAITING = 1024 * 1024;

const OVER = { done: true, value: undefined } as const;

/** New events for one consumer. One that is too slow is ended, and may continue by the feed or the stream. */
export class EventIterator implements AsyncIterableIterator<StoredEvent> {
  private readonly waiting: StoredEvent[] = [];
  private bytes = 0;
  private taker: ((result: IteratorResult<StoredEvent>) => void) | undefined;
  private isOver = false;

  /** @param position of the last event that does not count */
  constructor(
    private readonly position: number,
    private readonly filter: EventFilter,
    private readonly onEnd: () => void,
  ) {}

  accept({ events }: EventBatch): void {
    for (const event of events) {
      if (event.position > this.position && this.filter.accepts(event)) this.add(event);
    }
  }

  next(): Promise<IteratorResult<StoredEvent>> {
    const event = this.waiting.shift();
    if (event) {
      this.bytes -= event.json.length;
      return Promise.resolve({ done: false, value: event });
    }
    if (this.isOver) return Promise.resolve(OVER);
    return new Promise((resolve) => (this.taker = resolve));
  }

  return(): Promise<IteratorResult<StoredEvent>> {
    this.end();
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.waiting.length = 0;
    this.taker?.(OVER);
    this.onEnd();
  }

  private add(event: StoredEvent): void {
    if (this.isOver) return;
    const { taker } = this;
    if (taker) {
      this.taker = undefined;
      taker({ done: false, value: event });
      return;
    }
    this.waiting.push(event);
    this.bytes += event.json.length;
    if (this.bytes > MAX_WAITING) this.end();
  }
}
