import type { Type } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import { AppError, type FieldError } from '../errors/errors.js';
import { checkerOf } from './checker.js';

const fieldsOf = new Map<Type, readonly string[]>();

/** The fields that a class declares rules for; empty for a class that is no input. */
export function inputFields(type: Type): readonly string[] {
  let fields = fieldsOf.get(type);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    fieldsOf.set(type, (fields = [...new Set(rules.map((rule) => rule.propertyName))]));
  }
  return fields;
}

/**
 * Makes an input of what a client sent: the declared fields and no others, checked by their rules.
 * Values are taken as they are; nothing is converted, and what is not declared is never walked into.
 *
 * @throws AppError `VALIDATION_ERROR` with one detail for each field that breaks a rule.
 */
export function toInput<T extends object>(type: Type<T>, sent: unknown): T {
  const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
  const source: Record<string, unknown> = isObject ? { ...sent } : {};
  const input = new type();
  for (const field of inputFields(type)) {
    if (Object.hasOwn(source, field)) Object.assign(input, { [field]: source[field] });
  }

  if (isObject && checkerOf(type)(input)) return input;
  const details = validateSync(input, { stopAtFirstError: true }).map(
    ({ property, constraints = {} }): FieldError => ({
      field: property,
      message: Object.values(constraints)[0] ?? `${property} is not valid`,
    }),
  );
  if (isObject && details.length === 0) return input;

  const faults = details.map(({ message }) => message);
  if (!isObject) faults.unshift('The body must be a JSON object');
  throw new AppError('VALIDATION_ERROR', faults.join('; '), { details });
}
