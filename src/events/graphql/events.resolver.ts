import { Args, Context, Field, ID, ObjectType, Resolver, Subscription } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import { CurrentAccount, OptionalAccess } from '../../platform/access/index.js';
import type { Account } from '../../accounts/account.entity.js';
import { clientOf } from '../../platform/http/client.js';
import { ConsumerLimits } from '../event-streams.js';
import { EventLog } from '../../platform/changes/event-log.js';
import { EventQuery } from '../event-query.js';
import type { StoredEvent } from '../../platform/changes/stored-event.js';
import { EventIterator } from './event-iterator.js';
import { JsonScalar } from '../../platform/graphql/json.scalar.js';

/** An event in GraphQL. */
@ObjectType('Event', { description: 'A change of a resource.' })
class EventType {
  @Field(() => ID, { description: 'Identifies the event: the feed and the stream continue after it.' })
  id!: string;

  @Field({ description: 'Such as post.created.' })
  type!: string;

  @Field({ description: 'The path of the resource.' })
  subject!: string;

  @Field({ description: 'When the change was made.' })
  time!: Date;

  @Field(() => JsonScalar, {
    description: 'The resource after the change, as REST returns it; for a deleted resource, its id.',
  })
  data!: unknown;
}

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
