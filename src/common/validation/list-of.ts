import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isStorable } from './text.js';

/** The field must be a list of one to `max` texts. @param item what each of them is, such as `event type` */
export function ListOf(item: string, { max }: { readonly max: number }): PropertyDecorator {
  const fault = (value: unknown): string | undefined => {
    if (!Array.isArray(value) || value.length === 0) return `must be a list of at least one ${item}`;
    if (value.length > max) return `must be a list of at most ${max} ${item}s`;
    const isText = value.every((each) => typeof each === 'string' && isStorable(each));
    return isText ? undefined : `must be a list of ${item}s, which are strings`;
  };
  return applyDecorators(
    ApiProperty({ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: max }),
    ValidateBy({
      name: 'listOf',
      validator: {
        validate: (value) => fault(value) === undefined,
        defaultMessage: (args) => `$property ${fault(args?.value)}`,
      },
    }),
  );
}
