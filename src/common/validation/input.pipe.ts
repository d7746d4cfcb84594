import {
  type ArgumentMetadata,
  Injectable,
  type Type,
  type ValidationError,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { AppError, type FieldError } from '../errors/errors.js';

const OPTIONS: ValidationPipeOptions = {
  transform: true,
  stopAtFirstError: true,
  exceptionFactory: toValidationError,
};

/**
 * Nest's `ValidationPipe` as the whole service uses it: what a class has no rule for is removed, nothing is
 * converted unless the class says so (`@Type()`), and an input that breaks a rule is a `VALIDATION_ERROR` with
 * one detail for each field. Nothing is removed where the class has no rules at all, nor from an argument of
 * GraphQL such as `@Args('input')`, whose schema allows no other fields.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  private readonly keepingAll = new ValidationPipe(OPTIONS);

  constructor() {
    super({ ...OPTIONS, whitelist: true });
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // On the hot path of every read: an id that a decorator of ours has checked needs no promise.
    if (metadata.type === 'custom') return value as Promise<unknown>;
    return this.check(value, metadata);
  }

  private async check(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype, data } = metadata;
    if (type === 'query') return super.transform(withSingleValues(value, metadata), metadata);
    if (type !== 'body' || !metatype || !this.toValidate(metadata)) return super.transform(value, metadata);
    if (data !== undefined || fieldsOf(metatype).size === 0)
      return this.keepingAll.transform(value, metadata);
    if (isObject(value))
      return super.transform(isLarge(value) ? pick(value, fieldsOf(metatype)) : value, metadata);
    // Nothing or a scalar has none of the fields, and would pass where all of them are optional.
    throw await this.explain(metatype);
  }

  /**
   * Converts a path or query parameter to what the handler declares. A text that is not exactly a number stays
   * a text, for `ParseIntPipe` and others to report: as `NaN`, a `DefaultValuePipe` would replace it silently.
   */
  protected override transformPrimitive(value: any, metadata: ArgumentMetadata): any {
    const { type, metatype, data } = metadata;
    if (data !== undefined && typeof value === 'string' && (type === 'param' || type === 'query')) {
      if (metatype === Number) return DECIMAL.test(value) ? Number(value) : value;
      if (metatype === Boolean && !BOOLEANS.has(value)) {
        throw new AppError('MALFORMED_REQUEST', `${data} must be true or false`);
      }
    }
    return super.transformPrimitive(value, metadata);
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

/** Members and items of a body beyond which only its declared fields are looked at. */
const LARGE = 2000;

/** class-transformer takes seconds for a body of 1 MiB that consists of what no field declares. */
function isLarge(body: object): boolean {
  const pending: object[] = [body];
  for (let count = 0, next; (next = pending.pop());) {
    const members: unknown[] = Object.values(next);
    count += members.length;
    if (count > LARGE) return true;
    for (const member of members) if (typeof member === 'object' && member !== null) pending.push(member);
  }
  return false;
}

/** What `@Expose({ name })` renames is not found in a large body. */
const pick = (body: object, fields: ReadonlySet<string>): object =>
  Object.fromEntries(Object.entries(body).filter(([name]) => fields.has(name)));

const known = new Map<Type, ReadonlySet<string>>();

/** The fields that have a rule. */
function fieldsOf(type: Type): ReadonlySet<string> {
  let fields = known.get(type);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    known.set(type, (fields = new Set(rules.map(({ propertyName }) => propertyName))));
  }
  return fields;
}

/** At most 15 digits: more would be rounded to another number. */
const DECIMAL = /^-?(?=[\d.]{1,16}$)\d{1,15}(\.\d+)?$/;
const BOOLEANS = new Set(['true', 'false']);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Of a query parameter that is repeated, the first value counts; all of them where the handler or the field
 * takes an array. A query that no class describes is left as it is.
 */
function withSingleValues(value: unknown, { metatype, data }: ArgumentMetadata): unknown {
  if (data !== undefined) {
    return Array.isArray(value) && metatype && !MANY.has(metatype) ? value[0] : value;
  }
  if (!metatype || metatype === Object || !isObject(value)) return value;
  const prototype = metatype.prototype as object;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      // What TypeScript itself says of the property (`emitDecoratorMetadata`).
      const isArray = Reflect.getMetadata('design:type', prototype, name) === Array;
      return [name, Array.isArray(item) && !isArray ? item[0] : item];
    }),
  );
}

/** A parameter of these types takes every value. */
const MANY = new Set<Function>([Array, Object]);

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
  const own =
    message === undefined ? [] : [{ field, message: `${path === '' ? '' : `${field}: `}${message}` }];
  return [...own, ...children.flatMap((child) => fieldErrors(child, `${field}.`))];
}
