import { ApiProperty, type ApiPropertyOptions, ApiSchema } from '@nestjs/swagger';

/** A whole number, 64 bits wide. */
export const Int64Property = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({ ...options, type: 'integer', format: 'int64' } as ApiPropertyOptions);

/** {@link Int64Property}, or null. */
export const NullableInt64Property = (options: { description: string; example: number }): PropertyDecorator =>
  ApiProperty({ ...options, oneOf: [{ type: 'integer', format: 'int64' }, { type: 'null' }] });

/** A time: UTC, RFC 3339 with milliseconds. */
export const TimestampProperty = (): PropertyDecorator =>
  ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-21T08:00:00.000Z' });

/** `meta` of a page in the reference; see `PageMeta`. */
@ApiSchema({ name: 'PageMeta' })
export class PageMetaView {
  @ApiProperty({
    type: 'integer',
    format: 'int64',
    description: 'The number of items on all pages.',
    example: 42,
  })
  total!: number;

  @ApiProperty({ type: 'integer', format: 'int64', example: 1 })
  page!: number;

  @ApiProperty({ type: 'integer', example: 20 })
  limit!: number;

  @ApiProperty({ example: true })
  has_next!: boolean;
}
