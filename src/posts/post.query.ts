import { firstValue, type QueryParameters } from '../common/http/query.js';
import { type CursorRequest, cursorRequest } from '../common/pagination/cursor-request.js';
import { PageRequest } from '../common/pagination/page-request.js';
import { isStorable } from '../common/validation/text.js';
import { fold } from './fold.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

const SORT_COLUMNS = ['created_at', 'title', 'views'] as const;

/** Which posts are meant; `'none'` when no post can be. */
export type PostFilter =
  { readonly authorId?: number; readonly status?: PostStatus; readonly text?: string } | 'none';

/** A page of the list as a client asks for it. Never rejected: what makes no sense is replaced. */
export interface ListPosts {
  readonly filter: PostFilter;
  readonly sortBy: (typeof SORT_COLUMNS)[number];
  readonly direction: 'ASC' | 'DESC';
  readonly page: PageRequest;
}

/** @param authorId whose posts alone are listed */
export function listPosts(query: QueryParameters, authorId?: number): ListPosts {
  const sortBy = firstValue(query, 'sort_by');
  return {
    filter: filterFrom(query, authorId),
    sortBy: SORT_COLUMNS.find((column) => column === sortBy) ?? 'created_at',
    direction: firstValue(query, 'sort_dir')?.toUpperCase() === 'ASC' ? 'ASC' : 'DESC',
    page: PageRequest.from(query),
  };
}

export interface WalkPosts extends CursorRequest {
  readonly filter: PostFilter;
}

/** @throws AppError `INVALID_CURSOR` */
export function walkPosts(query: QueryParameters): WalkPosts {
  return {
    filter: filterFrom(query),
    ...cursorRequest(query),
  };
}

function filterFrom(query: QueryParameters, authorId?: number): PostFilter {
  const asked = firstValue(query, 'status');
  const q = firstValue(query, 'q');
  const status = POST_STATUSES.find((known) => known === asked);
  if ((asked && !status) || (q && !isStorable(q))) return 'none';
  return {
    ...(authorId !== undefined && { authorId }),
    ...(status && { status }),
    ...(q && { text: fold(q) }),
  };
}
