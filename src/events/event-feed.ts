import { Injectable } from '@nestjs/common';
import { type Completion, CursorPage } from '../platform/http/pages/page.js';
import { Config } from '../platform/config/config.js';
import { EventFilter, eventId } from '../platform/changes/stored-event.js';
import { EventLog } from '../platform/changes/event-log.js';
import { EventStore, type ListedEvent } from '../platform/changes/event-store.js';
import { type EventView, toEventView } from './event.view.js';

/** The parameters of a page of the feed. */
export interface ReadEvents {
  readonly filter: EventFilter;
  /** The id of the event after which the page starts; without it, the start of the log. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** The feed: events page by page, oldest first. */
@Injectable()
export class EventFeed {
  constructor(
    private readonly store: EventStore,
    private readonly log: EventLog,
    private readonly config: Config,
  ) {}

  /** Contains every event whose change was acknowledged before. @throws AppError `INVALID_CURSOR`, `EVENTS_EXPIRED` */
  async read({ filter, after, limit }: ReadEvents): Promise<CursorPage<EventView>> {
    const start = after ? await this.store.locate(after) : 0;
    // Before the page is read: events that are numbered later would be missing.
    await this.log.catchUp();
    const rows = await this.store.list(start, filter, limit + 1);
    const data = rows.slice(0, limit);
    const last = data.at(-1);
    const page = new CursorPage(data, last && eventId(last), rows.length > limit, this.completionOf(data));
    return page.map((event) => toEventView(event, this.config.publicUrl));
  }

  private completionOf(events: readonly ListedEvent[]): Completion<ListedEvent> | undefined {
    if (events.every(({ data }) => data !== null)) return undefined;
    return async (index) => {
      const event = events[index]!;
      if (event.data !== null) return event;
      const data = await this.store.dataAt(event.position);
      return data === undefined ? undefined : { ...event, data };
    };
  }
}
