import { Args, Context, Resolver, Subscription } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import { CurrentAccount, OptionalAccess } from '../../platform/access/index.js';
import type { Account } from '../../accounts/account.entity.js';
import { clientOf } from '../../platform/http/client.js';
import { ConsumerLimits } from '../consumer-limits.js';
import { EventLog } from '../../platform/changes/event-log.js';
import { EventQuery } from '../event-query.js';
import type { StoredEvent } from '../../platform/changes/stored-event.js';
import { EventIterator } from './event-iterator.js';
import { EventType } from './event.type.js';

const toEventType = ({ id, type, subject, time, data }: StoredEvent): EventType => ({
  id,
  type,
  subject,
  time: new Date(time),
  data,
});

@Resolver()
@OptionalAccess()
export class EventsResolver {
  constructor(
    private readonly query: EventQuery,
    private readonly log: EventLog,
    private readonly limits: ConsumerLimits,
  ) {}

  @Subscription(() => EventType, {
    description: 'New events of the given types, or of all types.',
    resolve: toEventType,
  })
  async events(
    @Args('types', { type: () => [String], nullable: true }) types: string[] | null,
    @CurrentAccount() account: Account | null,
    @Context('req') request: FastifyRequest,
  ): Promise<EventIterator> {
    const filter = this.query.filter(types ?? undefined, account);
    const leave = this.limits.enter(clientOf(request).address);
    const iterator = new EventIterator(filter, () => {
      unfollow();
      leave();
    });
    // Before the position is read: the log may pass on events while it is.
    const unfollow = this.log.follow({
      accept: (batch) => iterator.accept(batch),
      fail: (error) => iterator.fail(error),
    });
    try {
      iterator.startAfter(await this.log.catchUp());
    } catch (error) {
      iterator.end();
      throw error;
    }
    return iterator;
  }
}
