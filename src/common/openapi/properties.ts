import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

/** A whole number, 64 bits wide. */
export const Int64Property = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({ ...options, type: 'integer', format: 'int64' } as ApiPropertyOptions);

/** {@link Int64Property}, or null. */
export const NullableInt64Property = (options: { description: string; example: number }): PropertyDecorator =>
  ApiProperty({ ...options, oneOf: [{ type: 'integer', format: 'int64' }, { type: 'null' }] });

/** A time: UTC, RFC 3339 with milliseconds. */
export const TimestampProperty = (): PropertyDecorator =>
  ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-21T08:00:00.000Z' });
