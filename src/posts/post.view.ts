import { Field, ID, ObjectType, registerEnumType } from '@nestjs/graphql';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../platform/http/openapi/properties.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

export const POSTS_PATH = '/v1/posts';

export const PostStatusEnum = Object.fromEntries(POST_STATUSES.map((status) => [status, status]));
registerEnumType(PostStatusEnum, {
  name: 'PostStatus',
  description: 'Whether a post is published.',
  valuesMap: {
    draft: { description: 'Not published, or withdrawn.' },
    published: { description: 'Published.' },
  },
});

/** A post for clients of REST and GraphQL. Timestamps are UTC, RFC 3339 with milliseconds. */
@ApiSchema({ name: 'Post' })
@ObjectType('Post', { description: 'A post of a user.' })
export class PostView {
  @Field(() => ID, { description: 'Identifies the post.' })
  @Int64Property({ example: 1 })
  readonly id!: number;

  @Field({ description: '1 to 200 characters.' })
  @ApiProperty({ example: 'Straße nach Rom' })
  readonly title!: string;

  /** In GraphQL, `PostFieldsResolver` loads it. */
  @ApiProperty({ example: 'Alle Wege führen dahin.' })
  readonly content!: string;

  @Field(() => ID, { name: 'authorId', description: 'The id of the author.' })
  @Int64Property({ example: 1 })
  readonly author_id!: number;

  @Field(() => PostStatusEnum, { description: 'Whether the post is published.' })
  @ApiProperty({ enum: POST_STATUSES })
  readonly status!: PostStatus;

  @Field(() => Date, { name: 'createdAt', description: 'When the post was created.' })
  @TimestampProperty()
  readonly created_at!: string;

  @Field(() => Date, { name: 'updatedAt', description: 'When the post was last changed.' })
  @TimestampProperty()
  readonly updated_at!: string;
}

/** The columns of the view: all statements of posts are built from this list. */
export const POST_COLUMNS = Object.keys({
  id: true,
  title: true,
  content: true,
  author_id: true,
  status: true,
  created_at: true,
  updated_at: true,
} satisfies Record<keyof PostView, true>);

/** A stored post, with the version for its entity tag. */
export interface PostRow extends PostView {
  readonly version: number;
}

export const POST_ROW = [...POST_COLUMNS, 'version'].join(', ');

export function toPostView(row: PostRow): PostView {
  // JSON omits what is undefined. A rest pattern takes five times as long.
  const view = { ...row, version: undefined };
  return view;
}

/** Larger contents are omitted from lists, and loaded while the page is sent; in bytes. */
const LARGE_CONTENT = 16 * 1024;

/** A post in a list; without its content if that is large. */
export type ListedPost = Omit<PostView, 'content'> & { readonly content: string | null };

export const LISTED_POST = columnsWith(
  `CASE WHEN octet_length(content) <= ${LARGE_CONTENT} THEN content END AS content`,
);

/** A stored post with the size of its content in bytes, instead of the content. */
export type PostSummary = Omit<PostRow, 'content'> & { readonly content_bytes: number };

export const POST_SUMMARY = `${columnsWith('octet_length(content) AS content_bytes')}, version`;

/** A post for the fields of GraphQL, which load its content where it is missing. */
export type PostNode = PostSummary | PostRow;

/** The columns of the view, with something else for the content. */
function columnsWith(content: string): string {
  return POST_COLUMNS.map((name) => (name === 'content' ? content : name)).join(', ');
}
