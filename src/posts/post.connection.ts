import { ArgsType, Field, InputType, ObjectType, registerEnumType } from '@nestjs/graphql';
import {
  Connection,
  ConnectionArgs,
  type OrderDirection,
  OrderDirectionEnum,
} from '../platform/graphql/connection.js';
import type { PostStatus } from './post.entity.js';
import { postFilter, type SortedPosts } from './post.query.js';
import { PostStatusEnum, PostView } from './post.view.js';

@ObjectType({ description: 'A page of posts.' })
export class PostConnection extends Connection(PostView) {}

/** What posts are sorted by. The values are the names, because a federated schema prints defaults by their values. */
const PostOrderField = { createdAt: 'createdAt', title: 'title', views: 'views' } as const;
registerEnumType(PostOrderField, {
  name: 'PostOrderField',
  description: 'What posts are sorted by; equal ones by their ids.',
  valuesMap: {
    createdAt: { description: 'The time of creation.' },
    title: { description: 'The code points of the title.' },
    views: { description: 'How often the post was read by its id over REST.' },
  },
});

const DEFAULT_ORDER = { field: 'createdAt', direction: 'DESC' } as const;

const SORT_BY = { createdAt: 'created_at', title: 'title', views: 'views' } as const;

@InputType({ description: 'An order of posts.' })
class PostOrder {
  @Field(() => PostOrderField, {
    nullable: true,
    defaultValue: DEFAULT_ORDER.field,
    description: 'What posts are sorted by.',
  })
  field?: keyof typeof SORT_BY | null;

  @Field(() => OrderDirectionEnum, {
    nullable: true,
    defaultValue: DEFAULT_ORDER.direction,
    description: 'The direction of the order.',
  })
  direction?: OrderDirection | null;
}

@ArgsType()
export class PostsArgs extends ConnectionArgs {
  @Field(() => PostStatusEnum, { nullable: true, description: 'Only posts with this status.' })
  status?: PostStatus | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Only posts whose title or content contains this text, in any letter case; more than 1,000 characters match nothing.',
  })
  q?: string | null;

  @Field(() => PostOrder, {
    nullable: true,
    defaultValue: DEFAULT_ORDER,
    description: 'The order of the list.',
  })
  orderBy?: PostOrder | null;
}

export const sortedPosts = ({ status, q, orderBy }: PostsArgs): SortedPosts => ({
  filter: postFilter({ status, q }),
  sortBy: SORT_BY[orderBy?.field ?? DEFAULT_ORDER.field],
  direction: orderBy?.direction ?? DEFAULT_ORDER.direction,
});
