import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isStorable } from './text.js';

/**
 * The field must be a JSON object that both databases store without a change.
 *
 * @public for modules that teams add
 */
export const JsonObject = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'object', additionalProperties: true }),
    ValidateBy({
      name: 'jsonObject',
      validator: {
        validate: (value) => faultOf(value) === undefined,
        defaultMessage: (args) => `$property ${faultOf(args?.value)}`,
      },
    }),
  );

const faultOf = (value: unknown): string | undefined =>
  objectFault(value) ?? (hasFiniteNumbers(value) ? undefined : NOT_FINITE);

const NOT_FINITE = 'must not contain numbers beyond those of a double; send them as text';

/** The broken rule of a JSON object whose text is stored, to follow the name of the value. */
export function objectFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be a JSON object';
  if (!hasStorableTexts(value)) return 'must not contain NUL or lone surrogates';
  return undefined;
}

function hasStorableTexts(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && hasStorableTexts(member));
}

/** JSON.stringify would write `null` for an infinite number, such as 1e400. */
function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasFiniteNumbers);
}
