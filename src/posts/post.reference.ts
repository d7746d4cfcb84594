import { applyDecorators } from '@nestjs/common';
import { QueryParameter } from '../common/openapi/queries.js';
import { POST_STATUSES } from './post.entity.js';

// The reference of the parameters that `post.query.ts` reads.

export const FilterQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('status', `${POST_STATUSES.join(' or ')}; another one has no posts.`, { type: 'string' }),
    QueryParameter('q', 'Text that the title or the content contains, in any letter case.', {
      type: 'string',
    }),
  );

export const SortQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('sort_by', 'created_at, title or views; anything else is created_at.', {
      type: 'string',
      default: 'created_at',
    }),
    QueryParameter('sort_dir', 'ASC or DESC, in any letter case; anything else is DESC.', {
      type: 'string',
      default: 'DESC',
    }),
  );
