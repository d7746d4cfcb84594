import { EventEmitter, on } from 'node:events';
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
  private readonly emitter = new EventEmitter();
  private readonly events = on(this.emitter, 'event', { close: ['end'] });
  private waitingBytes = 0;
  private isOver = false;
  /** Of the last event before the subscription. */
  private start = 0;

  constructor(
    private readonly filter: EventFilter,
    private readonly onEnd: () => void,
  ) {}

  /** Omits the events up to a position, also those that have arrived. Call it before the first `next`. */
  startAfter(position: number): void {
    this.start = position;
  }

  accept({ events }: EventBatch): void {
    for (const event of events) {
      if (this.isOver || !this.filter.accepts(event)) continue;
      this.waitingBytes += event.json.length;
      this.emitter.emit('event', event);
      if (this.waitingBytes > MAX_WAITING) this.fail(new AppError('SERVICE_UNAVAILABLE', TOO_SLOW));
    }
  }

  async next(): Promise<IteratorResult<StoredEvent>> {
    for (;;) {
      const { done, value } = (await this.events.next()) as IteratorResult<[StoredEvent]>;
      if (done) return OVER;
      const [event] = value;
      this.waitingBytes -= event.json.length;
      if (event.position > this.start) return { done: false, value: event };
    }
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
    this.emitter.emit('error', error);
    this.finish();
  }

  end(): void {
    if (this.isOver) return;
    this.emitter.emit('end');
    this.finish();
  }

  private finish(): void {
    this.isOver = true;
    this.onEnd();
  }
}
