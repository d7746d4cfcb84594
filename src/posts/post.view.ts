import type { PostStatus } from './post.entity.js';

/** A post as it leaves over REST. */
export interface PostView {
  readonly id: number;
  readonly title: string;
  readonly content: string;
  readonly author_id: number;
  readonly status: PostStatus;
  /** UTC, RFC 3339 with milliseconds. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** The columns of a view: rows read by `Queries` with these are views as they are. */
export const POST_VIEW = 'id, title, content, author_id, status, created_at, updated_at';
