import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../common/openapi/properties.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

/** A post as it leaves over REST. Timestamps are UTC, RFC 3339 with milliseconds. */
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

/** The columns of a view: rows read by `Queries` with these are views as they are. */
export const POST_VIEW = 'id, title, content, author_id, status, created_at, updated_at';
