import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';

/** An optional query parameter; an invalid value is replaced by the default. */
export const QueryParameter = (name: string, description: string, schema: object): MethodDecorator =>
  ApiQuery({ name, description, required: false, schema });

/** `page` and `limit` of a list. */
export const PageQuery = (limit = 20): MethodDecorator =>
  applyDecorators(
    QueryParameter('page', 'From 1; any other value is replaced by 1.', {
      type: 'integer',
      format: 'int64',
      default: 1,
    }),
    LimitQuery(limit),
  );

export const LimitQuery = (limit = 20): MethodDecorator =>
  QueryParameter('limit', `From 1 to 100; any other value is replaced by ${limit}.`, {
    type: 'integer',
    default: limit,
  });

export const CursorQuery = (): MethodDecorator =>
  QueryParameter(
    'cursor',
    'The `next_cursor` of an earlier response; absent or empty starts at the beginning.',
    { type: 'string' },
  );
