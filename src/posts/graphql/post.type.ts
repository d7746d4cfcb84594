import { Field, ID, ObjectType, registerEnumType } from '@nestjs/graphql';
import { POST_STATUSES, type PostStatus } from '../post.entity.js';
import type { PostView } from '../post.view.js';

const PostStatusEnum = Object.fromEntries(POST_STATUSES.map((status) => [status, status]));
registerEnumType(PostStatusEnum, { name: 'PostStatus' });

/** A post as GraphQL shows it. */
@ObjectType('Post', { description: 'A post of a user.' })
export class PostType {
  @Field(() => ID)
  id!: number;

  @Field()
  title!: string;

  @Field()
  content!: string;

  @Field(() => PostStatusEnum)
  status!: PostStatus;

  @Field(() => ID)
  authorId!: number;

  @Field()
  createdAt!: Date;

  @Field()
  updatedAt!: Date;
}

export const toPostType = ({ author_id, created_at, updated_at, ...post }: PostView): PostType => ({
  ...post,
  authorId: author_id,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
});
