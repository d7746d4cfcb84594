import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../common/openapi/properties.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

/** A post in the REST API. Timestamps are UTC, RFC 3339 with milliseconds. */
@ApiSchema({ name: 'Post' })
export class PostView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Straße nach Rom' })
  readonly title!: string;

  @ApiProperty({ example: 'Alle Wege führen dahin.' })
  readonly content!: string;

  @Int64Property({ example: 1 })
  readonly author_id!: number;

  @ApiProperty({ enum: POST_STATUSES })
  readonly status!: PostStatus;

  @TimestampProperty()
  readonly created_at!: string;

  @TimestampProperty()
  readonly updated_at!: string;
}

/** The columns of a view: `Queries` reads rows with these names as views. */
const POST_VIEW = 'id, title, content, author_id, status, created_at, updated_at';

/** Larger contents are omitted from lists, and loaded while the page is sent; in bytes. */
const LARGE_CONTENT = 16 * 1024;

/** A post in a list; without its content if that is large. */
export type ListedPost = Omit<PostView, 'content'> & { readonly content: string | null };

export const LISTED_POST = POST_VIEW.replace(
  'content',
  `CASE WHEN octet_length(content) <= ${LARGE_CONTENT} THEN content END AS content`,
);

/** A stored post, with the version for its entity tag. */
export interface PostRow extends PostView {
  readonly version: number;
}

export const POST_ROW = `${POST_VIEW}, version`;

export const toPostView = ({
  id,
  title,
  content,
  author_id,
  status,
  created_at,
  updated_at,
}: PostRow): PostView => ({ id, title, content, author_id, status, created_at, updated_at });

/** A post with the size of its content in bytes, instead of the content. */
export type PostSummary = Omit<PostView, 'content'> & { readonly content_bytes: number };

/** The columns of a summary, for the alias of posts in a statement. */
export const postSummary = (post: string): string =>
  `${post}.id, ${post}.title, octet_length(${post}.content) AS content_bytes,
   ${post}.author_id, ${post}.status, ${post}.created_at, ${post}.updated_at`;
