import type { ValidationError } from '@nestjs/common';
import {
  IS_ARRAY,
  IS_BOOLEAN,
  IS_BOOLEAN_STRING,
  IS_DATE,
  IS_DATE_STRING,
  IS_EMAIL,
  IS_ENUM,
  IS_INSTANCE,
  IS_INT,
  IS_ISO8601,
  IS_NUMBER,
  IS_NUMBER_STRING,
  IS_OBJECT,
  IS_STRING,
  IS_URL,
  IS_UUID,
} from 'class-validator';
import { AppError, type FieldError } from '../errors/errors.js';
import { TEXT } from './text.js';

/** Rules of the type of a field: if several rules are broken, the first of these says what the value must be. */
const TYPE_RULES = [
  IS_ARRAY,
  IS_OBJECT,
  IS_INSTANCE,
  IS_DATE,
  IS_BOOLEAN,
  IS_INT,
  IS_NUMBER,
  IS_STRING,
  TEXT,
  IS_ENUM,
  IS_EMAIL,
  IS_UUID,
  IS_URL,
  IS_DATE_STRING,
  IS_ISO8601,
  IS_NUMBER_STRING,
  IS_BOOLEAN_STRING,
];

/** One detail for each field. */
export const toValidationError = (errors: readonly ValidationError[]): AppError =>
  invalid(errors.flatMap((error) => fieldErrors(error)));

export function invalid(details: readonly FieldError[]): AppError {
  const messages = details.map(({ message }) => message);
  return new AppError('VALIDATION_ERROR', messages.join('; '), { details });
}

/** The name of a field of a nested object is its path, such as `items.0.name`. */
function fieldErrors(
  { property, constraints = {}, children = [] }: ValidationError,
  path = '',
): FieldError[] {
  const field = `${path}${property}`;
  const ofType = TYPE_RULES.find((rule) => rule in constraints);
  const message = ofType === undefined ? Object.values(constraints)[0] : constraints[ofType];
  if (message !== undefined) return [{ field, message: `${path === '' ? '' : `${field}: `}${message}` }];
  return children.flatMap((child) => fieldErrors(child, `${field}.`));
}
