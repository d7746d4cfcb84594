import { applyDecorators } from '@nestjs/common';
import { QueryParameter } from '../common/openapi/queries.js';
import { POST_STATUSES } from './post.entity.js';

// The reference of the parameters that `post.query.ts` reads.

export const FilterQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('status', `${POST_STATUSES.join(' or ')}; any other value returns an empty list.`, {
      type: 'string',
    }),
    QueryParameter('q', 'Text that the title or the content contains, in any letter case.', {
      type: 'string',
    }),
  );

export const SortQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('sort_by', 'created_at, title or views; any other value means created_at.', {
      type: 'string',
      default: 'created_at',
    }),
    QueryParameter('sort_dir', 'ASC or DESC, in any letter case; any other value means DESC.', {
      type: 'string',
      default: 'DESC',
    }),
  );
