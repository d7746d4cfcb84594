import { applyDecorators } from '@nestjs/common';
import { firstValue, type QueryParameters } from '../platform/http/query.js';
import { QueryParameter } from '../platform/http/openapi/queries.js';
import { type CursorRequest, cursorRequest, PageRequest } from '../platform/http/pages/page-request.js';
import { isStorable } from '../platform/http/validation/text.js';
import { caseFold } from './case-fold.js';
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

/** The parameters of a list. Invalid values are replaced, never rejected. */
export interface ListPosts extends SortedPosts {
  readonly page: PageRequest;
}

/** @param authorId lists only this author's posts */
export function listPosts(query: QueryParameters, authorId?: number): ListPosts {
  const sortBy = firstValue(query, 'sort_by');
  return {
    filter: filterFrom(query, authorId),
    sortBy: SORT_COLUMNS.find((column) => column === sortBy) ?? 'created_at',
    direction: firstValue(query, 'sort_dir')?.toUpperCase() === 'ASC' ? 'ASC' : 'DESC',
    page: PageRequest.from(query),
  };
}

export interface ListPostsByCursor extends CursorRequest {
  readonly filter: PostFilter;
}

/** @throws AppError `INVALID_CURSOR` */
export function listPostsByCursor(query: QueryParameters): ListPostsByCursor {
  return {
    filter: filterFrom(query),
    ...cursorRequest(query),
  };
}

function filterFrom(query: QueryParameters, authorId?: number): PostFilter {
  const asked = firstValue(query, 'status');
  const status = POST_STATUSES.find((known) => known === asked);
  if (asked && !status) return 'none';
  return postFilter({ authorId, status, q: firstValue(query, 'q') });
}

interface PostCriteria {
  readonly authorId?: number | undefined;
  readonly status?: PostStatus | null | undefined;
  readonly q?: string | null | undefined;
}

/** A criterion that is absent, null or empty has no effect. */
export function postFilter({ authorId, status, q }: PostCriteria): PostFilter {
  if (q && !isStorable(q)) return 'none';
  return {
    ...(authorId !== undefined && { authorId }),
    ...(status && { status }),
    ...(q && { text: caseFold(q) }),
  };
}

/** The reference of the parameters that {@link listPosts} reads. */
export const FilterQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('status', 'Any other value returns an empty list.', {
      type: 'string',
      enum: POST_STATUSES,
    }),
    QueryParameter('q', 'Text that the title or the content contains, in any letter case.', {
      type: 'string',
    }),
  );

export const SortQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('sort_by', 'Any other value means created_at.', {
      type: 'string',
      enum: SORT_COLUMNS,
      default: 'created_at',
    }),
    QueryParameter('sort_dir', '`ASC` or `DESC`, in any letter case; any other value means `DESC`.', {
      type: 'string',
      default: 'DESC',
    }),
  );
