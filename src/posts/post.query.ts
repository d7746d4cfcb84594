import { decodeCursor } from '../platform/http/pages/cursor.js';
import { CursorField, CursorRequest, PageRequest } from '../platform/http/pages/page-request.js';
import { QueryField } from '../platform/http/validation/fields.js';
import { isSearchable } from '../platform/http/validation/text.js';
import { caseFold } from '../platform/database/case-fold.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

const SORT_COLUMNS = ['created_at', 'title', 'views'] as const;

/** The filter of posts; `'none'` if no post can match. */
export type PostFilter =
  { readonly authorId?: number; readonly status?: PostStatus; readonly text?: string } | 'none';

/** The posts of a list, and their order. */
export interface SortedPosts {
  readonly filter: PostFilter;
  readonly sortBy: (typeof SORT_COLUMNS)[number];
  readonly direction: 'ASC' | 'DESC';
}

const StatusField = () =>
  QueryField({ type: 'string', enum: POST_STATUSES, description: 'Any other value returns an empty list.' });

const TextField = () =>
  QueryField({
    type: 'string',
    description:
      'Text that the title or the content contains, in any letter case. More than 1,000 characters match nothing.',
  });

/** The query of the posts of a user. */
export class UserPostsQuery extends PageRequest {
  @StatusField()
  readonly status?: string;

  @TextField()
  readonly q?: string;

  @QueryField(
    {
      type: 'string',
      enum: SORT_COLUMNS,
      default: 'created_at',
      description: 'Any other value means created_at.',
    },
    (text) => SORT_COLUMNS.find((column) => column === text) ?? 'created_at',
  )
  readonly sort_by: (typeof SORT_COLUMNS)[number] = 'created_at';

  @QueryField(
    {
      type: 'string',
      default: 'DESC',
      description: '`ASC` or `DESC`, in any letter case; any other value means `DESC`.',
    },
    (text) => (text.toUpperCase() === 'ASC' ? 'ASC' : 'DESC'),
  )
  readonly sort_dir: 'ASC' | 'DESC' = 'DESC';
}

/** The query of all posts: with a `cursor`, that of {@link PostsByCursorQuery}. */
export class PostsQuery extends UserPostsQuery {
  @CursorField()
  readonly cursor?: string;

  /** @throws AppError `INVALID_CURSOR` */
  get afterId(): number {
    return decodeCursor(this.cursor);
  }
}

export class PostsByCursorQuery extends CursorRequest {
  @StatusField()
  readonly status?: string;

  @TextField()
  readonly q?: string;
}

export interface ListPosts extends SortedPosts {
  readonly page: PageRequest;
}

/** @param authorId lists only this author's posts */
export const listPosts = (query: UserPostsQuery, authorId?: number): ListPosts => ({
  filter: filterOf(query, authorId),
  sortBy: query.sort_by,
  direction: query.sort_dir,
  page: query,
});

export interface ListPostsByCursor {
  readonly filter: PostFilter;
  readonly afterId: number;
  readonly limit: number;
}

/** @throws AppError `INVALID_CURSOR` */
export const listPostsByCursor = (query: PostsQuery | PostsByCursorQuery): ListPostsByCursor => ({
  filter: filterOf(query),
  afterId: query.afterId,
  limit: query.limit,
});

function filterOf({ status: asked, q }: { status?: string; q?: string }, authorId?: number): PostFilter {
  const status = POST_STATUSES.find((known) => known === asked);
  return asked && !status ? 'none' : postFilter({ authorId, status, q });
}

interface PostCriteria {
  readonly authorId?: number | undefined;
  readonly status?: PostStatus | null | undefined;
  readonly q?: string | null | undefined;
}

/** A criterion that is absent, null or empty has no effect. */
export function postFilter({ authorId, status, q }: PostCriteria): PostFilter {
  if (q && !isSearchable(q)) return 'none';
  return {
    ...(authorId !== undefined && { authorId }),
    ...(status && { status }),
    ...(q && { text: caseFold(q) }),
  };
}
