import { Field, ID, ObjectType, registerEnumType } from '@nestjs/graphql';
import { POST_STATUSES, type PostStatus } from '../post.entity.js';
import type { PostSummary } from '../post.view.js';

const PostStatusEnum = Object.fromEntries(POST_STATUSES.map((status) => [status, status]));
registerEnumType(PostStatusEnum, { name: 'PostStatus' });

/** A post in GraphQL. */
@ObjectType('Post', { description: 'A post of a user.' })
export class PostType {
  @Field(() => ID)
  id!: number;

  @Field()
  title!: string;

  @Field(() => PostStatusEnum)
  status!: PostStatus;

  @Field(() => ID)
  authorId!: number;

  @Field()
  createdAt!: Date;

  @Field()
  updatedAt!: Date;

  /** The size of its content, which another resolver loads. */
  contentBytes!: number;
}

export const toPostType = ({
  author_id,
  created_at,
  updated_at,
  content_bytes,
  ...post
}: PostSummary): PostType => ({
  ...post,
  contentBytes: content_bytes,
  authorId: author_id,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
});
