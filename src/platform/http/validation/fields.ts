import { Transform } from 'class-transformer';
import { Allow, IsBoolean, IsDate, isEmail, IsIn, IsOptional, ValidateBy } from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { parseTime } from '../time.js';
import { isStorable } from './text.js';

/** The field may be absent or null, which have the same meaning. */
export const OptionalField = (): PropertyDecorator =>
  applyDecorators(IsOptional(), ApiProperty({ required: false, nullable: true }));

/** The field must be one of these words. */
export const OneOf = (words: readonly string[]): PropertyDecorator =>
  applyDecorators(IsIn(words), ApiProperty({ enum: words }));

/** The field must be a boolean. @public for modules that teams add */
export const TrueOrFalse = (): PropertyDecorator =>
  applyDecorators(
    IsBoolean({ message: '$property must be true or false' }),
    ApiProperty({ type: 'boolean' }),
  );

/** The field must be a time as in RFC 3339. Over REST and GraphQL, the handler gets a `Date`. */
export const Time = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }) => (typeof value === 'string' ? (parseTime(value) ?? value) : value)),
    IsDate({ message: '$property must be a time such as 2030-01-01T00:00:00Z (RFC 3339)' }),
    ApiProperty({ type: 'string', format: 'date-time', example: '2030-01-01T00:00:00Z' }),
  );

/**
 * The field must be a list of `min` (1) to `max` texts.
 *
 * @param item what each of them is, such as `event type`
 * @public for modules that teams add
 */
export function ListOf(
  item: string,
  { min = 1, max }: { readonly min?: 0 | 1; readonly max: number },
): PropertyDecorator {
  const fault = (value: unknown): string | undefined => {
    if (!Array.isArray(value) || value.length < min)
      return `must be a list of ${min === 0 ? `${item}s` : `at least one ${item}`}`;
    if (value.length > max) return `must be a list of at most ${max} ${item}s`;
    const isText = value.every((each) => typeof each === 'string' && isStorable(each));
    return isText ? undefined : `must be a list of ${item}s, which are strings`;
  };
  return applyDecorators(
    ApiProperty({ type: 'array', items: { type: 'string' }, minItems: min, maxItems: max }),
    ValidateBy({
      name: 'listOf',
      validator: {
        validate: (value) => fault(value) === undefined,
        defaultMessage: (args) => `$property ${fault(args?.value)}`,
      },
    }),
  );
}

/**
 * The field of a `@Query()` class whose invalid values are replaced, never rejected.
 *
 * @param read converts the text; without it, the field is the text
 */
export const QueryField = (
  schema: ApiPropertyOptions,
  read: (text: string) => unknown = (text) => text,
): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional(schema),
    Allow(),
    Transform(({ value }) => read(value as string)),
  );

/** RFC 5321: 64 octets for the mailbox and 255 for the domain. */
const MAX_LENGTH = 320;

/**
 * Whether the text is an e-mail address (RFC 5321 and internationalized ones). Length and characters are checked
 * first, because the parser of addresses throws at lone surrogates.
 */
export const isEmailAddress = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_LENGTH && isStorable(value) && isEmail(value);
