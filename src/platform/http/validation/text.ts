import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** The name of the rule, in class-validator. */
export const TEXT = 'text';

export interface TextRule {
  /** Minimum and maximum length, in Unicode code points. Nothing is trimmed. */
  readonly min?: number;
  readonly max?: number;
}

/** The field must be text that both databases can store: well-formed Unicode without NUL, within its length. */
export function Text(rule: TextRule = {}): PropertyDecorator {
  const { min, max } = rule;
  return applyDecorators(
    ApiProperty({ type: 'string', ...(min && { minLength: min }), ...(max && { maxLength: max }) }),
    ValidateBy({
      name: TEXT,
      validator: {
        validate: (value) => textFault(value, rule) === undefined,
        defaultMessage: (args) => `$property ${textFault(args?.value, rule)}`,
      },
    }),
  );
}

/** The broken rule of a text, to follow the name of the field. */
export function textFault(value: unknown, { min = 0, max = Infinity }: TextRule): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '' && min > 0) return 'must not be empty';
  if (!isStorable(value)) return 'must not contain NUL or lone surrogates';
  // A code point is one or two UTF-16 units. A longer text is not counted: that would take milliseconds.
  if (value.length < 2 * min || value.length > max) {
    const length = value.length > 2 * max ? Infinity : codePoints(value);
    if (length < min) return `must be at least ${min} characters long`;
    if (length > max) return `must be at most ${max} characters long`;
  }
  return undefined;
}

/** In code points. Longer text is not searched for: preparing it would take time before the search waits for its turn. */
const SEARCH_LENGTH = 1000;

/** Whether rows may contain the text of a search; other text matches nothing. */
export const isSearchable = (text: string): boolean => textFault(text, { max: SEARCH_LENGTH }) === undefined;

/** PostgreSQL cannot store NUL, and would return a lone surrogate as another character. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
