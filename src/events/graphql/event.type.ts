import { Field, ID, ObjectType } from '@nestjs/graphql';
import { JsonScalar } from '../../platform/graphql/json.scalar.js';

/** An event in GraphQL. */
@ObjectType('Event', { description: 'A change of a resource.' })
export class EventType {
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
