import {
  type ArgumentMetadata,
  Injectable,
  type Type,
  type ValidationError,
  ValidationPipe,
} from '@nestjs/common';
import { AppError, type FieldError } from '../errors/errors.js';

/**
 * Nest's `ValidationPipe` as the whole service uses it: what a class does not declare is removed, nothing is
 * converted unless the class says so (`@Type()`), and an input that breaks a rule is a `VALIDATION_ERROR` with
 * one detail for each field.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  constructor() {
    super({ transform: true, whitelist: true, stopAtFirstError: true, exceptionFactory: toValidationError });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype, data } = metadata;
    if (type === 'query') return super.transform(withSingleValues(value, metadata), metadata);
    const isWholeBody = type === 'body' && data === undefined;
    if (!isWholeBody || !metatype || !this.toValidate(metadata) || isObject(value)) {
      return super.transform(value, metadata);
    }
    // Nothing or a scalar has none of the fields, and would pass where all of them are optional.
    throw await this.explain(metatype);
  }

  /** The error of a body that is no object: it also names the fields that are missing. */
  private async explain(metatype: Type): Promise<AppError> {
    const sentence = 'The body must be a JSON object';
    try {
      await super.transform({}, { type: 'body', metatype });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message, details } = error;
      return new AppError(code, `${sentence}; ${message}`, { details });
    }
    return new AppError('VALIDATION_ERROR', sentence);
  }
}

/** Checks an input outside of a request, by the same rules. @throws AppError `VALIDATION_ERROR` */
export function checkInput<T extends object>(metatype: Type<T>, value: unknown): Promise<T> {
  return pipe.transform(value, { type: 'body', metatype }) as Promise<T>;
}

const pipe = new InputPipe();

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Of a query parameter that is repeated, the first value counts; all of them where the handler or the field
 * takes an array. A query that no class describes is left as it is.
 */
function withSingleValues(value: unknown, { metatype, data }: ArgumentMetadata): unknown {
  if (data !== undefined) {
    return Array.isArray(value) && SINGLE.has(metatype as Function) ? value[0] : value;
  }
  if (!metatype || metatype === Object || !isObject(value)) return value;
  const prototype = metatype.prototype as object;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      // What TypeScript itself says of the property (`emitDecoratorMetadata`).
      const isSingle = SINGLE.has(Reflect.getMetadata('design:type', prototype, name) as Function);
      return [name, Array.isArray(item) && isSingle ? item[0] : item];
    }),
  );
}

const SINGLE = new Set<Function>([String, Number, Boolean, Date, BigInt]);

function toValidationError(errors: readonly ValidationError[]): AppError {
  const details = errors.flatMap((error) => fieldErrors(error));
  const messages = details.map(({ message }) => message);
  return new AppError('VALIDATION_ERROR', messages.join('; '), { details });
}

/** A field of a nested object is named by its path, such as `items.0.name`. */
function fieldErrors(
  { property, constraints = {}, children = [] }: ValidationError,
  path = '',
): FieldError[] {
  const field = `${path}${property}`;
  const [message] = Object.values(constraints);
  const own = message === undefined ? [] : [{ field, message: `${path}${message}` }];
  return [...own, ...children.flatMap((child) => fieldErrors(child, `${field}.`))];
}
