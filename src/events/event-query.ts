import { Injectable } from '@nestjs/common';
import type { Account } from '../accounts/account.entity.js';
import { firstValue, type QueryParameters } from '../platform/http/query.js';
import { limitFrom } from '../platform/http/pages/page-request.js';
import { Config } from '../platform/config/config.js';
import type { ReadEvents } from './event-feed.js';
import { EventFilter } from '../platform/changes/stored-event.js';
import { EventTypes } from '../platform/changes/define-events.js';

/** Checks what a consumer requests and may read. */
@Injectable()
export class EventQuery {
  constructor(
    private readonly types: EventTypes,
    private readonly config: Config,
  ) {}

  page(query: QueryParameters, account: Account | null): ReadEvents {
    const types = firstValue(query, 'types');
    return {
      filter: this.filter(types ? types.split(',') : undefined, account),
      after: firstValue(query, 'cursor'),
      limit: limitFrom(query),
    };
  }

  /** The filter and the start of a stream; undefined starts with the next event. */
  stream(
    query: QueryParameters,
    lastEventId: string | undefined,
    account: Account | null,
  ): Pick<ReadEvents, 'filter' | 'after'> {
    const types = firstValue(query, 'types');
    return {
      filter: this.filter(types ? types.split(',') : undefined, account),
      after: lastEventId || firstValue(query, 'last_event_id') || undefined,
    };
  }

  /** @param types unknown ones match nothing; undefined matches all */
  filter(types: readonly string[] | undefined, account: Account | null): EventFilter {
    const wanted = types && [...new Set(types)].filter((type) => this.types.has(type)).toSorted();
    const seesAll = this.config.writeAccess === 'open' || account?.isStaff;
    return new EventFilter(seesAll ? 'everything' : { accountId: account?.id ?? null }, wanted);
  }
}
