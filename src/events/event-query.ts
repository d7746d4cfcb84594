import { Injectable } from '@nestjs/common';
import type { Account } from '../accounts/account.entity.js';
import { CursorRequest } from '../platform/http/pages/page-request.js';
import { QueryField } from '../platform/http/validation/fields.js';
import { Config } from '../platform/config/config.js';
import type { ReadEvents } from './event-feed.js';
import { EventFilter } from '../platform/changes/stored-event.js';
import { EventTypes } from '../platform/changes/define-events.js';

const TypesField = (): PropertyDecorator =>
  QueryField({
    type: 'string',
    description: 'Types separated by commas; an unknown one matches nothing, none means all.',
    example: 'post.created,post.deleted',
  });

/** The query of the feed. */
export class ListEventsQuery extends CursorRequest {
  @TypesField()
  readonly types?: string;
}

/** The query of the stream. */
export class StreamEventsQuery {
  @TypesField()
  readonly types?: string;

  @QueryField({
    type: 'string',
    description: 'As the header `Last-Event-ID`, for clients that cannot set it.',
  })
  readonly last_event_id?: string;
}

/** Checks what a consumer requests and may read. */
@Injectable()
export class EventQuery {
  constructor(
    private readonly types: EventTypes,
    private readonly config: Config,
  ) {}

  page({ types, cursor, limit }: ListEventsQuery, account: Account | null): ReadEvents {
    return { filter: this.filter(listOf(types), account), after: cursor, limit };
  }

  /** The filter and the start of a stream; undefined starts with the next event. */
  stream(
    { types, last_event_id: start }: StreamEventsQuery,
    lastEventId: string | undefined,
    account: Account | null,
  ): Pick<ReadEvents, 'filter' | 'after'> {
    return {
      filter: this.filter(listOf(types), account),
      after: lastEventId || start || undefined,
    };
  }

  /** @param types unknown ones match nothing; undefined matches all */
  filter(types: readonly string[] | undefined, account: Account | null): EventFilter {
    const wanted = types && [...new Set(types)].filter((type) => this.types.has(type)).toSorted();
    const seesAll = this.config.writeAccess === 'open' || account?.isStaff;
    return new EventFilter(seesAll ? 'everything' : { accountId: account?.id ?? null }, wanted);
  }
}

/** Undefined: all. */
const listOf = (types: string | undefined): string[] | undefined => (types ? types.split(',') : undefined);
