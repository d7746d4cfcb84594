import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  Optional,
  type Type,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { CLASS_TYPE_METADATA } from '@nestjs/graphql';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { AppError, type FieldError } from '../errors/errors.js';
import { requestOf } from '../request-of.js';
import { type FurtherRules, furtherRulesOf } from './further-rules.js';
import { invalid, toValidationError } from './validation-error.js';

const OPTIONS: ValidationPipeOptions = {
  transform: true,
  exceptionFactory: (errors) => toValidationError(errors),
};

/**
 * Nest's `ValidationPipe` with the service's options: fields without a rule are removed, values are
 * converted only if the class says so (`@Type()`), and invalid input is a `VALIDATION_ERROR` with
 * one detail for each field. Nothing is removed if the class has no rules, or from arguments of
 * GraphQL, whose schema allows no other fields.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  private readonly keepingAll = new ValidationPipe(OPTIONS);

  /** @param modules finds the further rules of an input; outside of an application, there are none */
  constructor(@Optional() private readonly modules?: ModuleRef) {
    super({ ...OPTIONS, whitelist: true });
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // The hot path of every read: an id that `@Id()` has checked needs no promise.
    if (metadata.type === 'custom') return value as Promise<unknown>;
    return this.check(value, metadata);
  }

  private async check(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype, data } = metadata;
    if (type === 'query') return super.transform(withSingleValues(value, metadata), metadata);
    if (type !== 'body' || !metatype || !this.toValidate(metadata)) return super.transform(value, metadata);
    const hasRules = fieldsOf(metatype).size > 0;
    // There is nothing to validate, which takes 2 % of a query with arguments all the same.
    if (!hasRules && data === undefined && isObject(value)) {
      // class-transformer would call a `constructor` that a client has sent.
      this.stripProtoKeys(value);
      return plainToInstance(metatype, settable(value, metatype));
    }
    if (!hasRules || data !== undefined || hasSchema(metatype))
      return this.keepingAll.transform(value, metadata);
    if (isObject(value)) {
      const body = convertible(settable(value, metatype), fieldsOf(metatype));
      const provider = furtherRulesOf(metatype);
      const further = provider && this.modules?.get(provider, { strict: false });
      return further ? this.checkFurther(body, metadata, further) : super.transform(body, metadata);
    }
    // An absent body or a scalar has none of the fields, and would be valid if all of them are optional.
    throw await this.explain(metatype);
  }

  /** Reports the faults of both kinds of rules at once. */
  private async checkFurther(
    body: object,
    metadata: ArgumentMetadata,
    further: FurtherRules,
  ): Promise<unknown> {
    const faults: FieldError[] = [];
    const input: unknown = await super.transform(body, metadata).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      faults.push(...error.details);
    });
    const invalidFields = new Set(faults.map(({ field }) => field.split('.', 1)[0]));
    const valid = Object.entries(body).filter(([field]) => !invalidFields.has(field));
    faults.push(...(await further.faults(Object.fromEntries(valid))));
    if (faults.length > 0) throw invalid(faults);
    return input;
  }

  /**
   * Converts a path or query parameter to the type of the handler. A text that is not exactly a number stays
   * a text, so that `ParseIntPipe` and others report it: a `DefaultValuePipe` would replace `NaN` silently.
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

  /** The error of a body that is not an object; it also names the missing fields. */
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

/** Validates input where no pipe has done it, by the same rules but those of `@CheckedBy()`. @throws AppError `VALIDATION_ERROR` */
export function checkInput<T extends object>(metatype: Type<T>, value: unknown): Promise<T> {
  return pipe.transform(value, { type: 'body', metatype }) as Promise<T>;
}

const pipe = new InputPipe();

/**
 * The body of a request, for a handler whose body may be absent: that is `{}`, which `@Body()` would reject. Name the
 * class of the input, `@OptionalBody(RecentInput)`: without one, the body is not validated.
 *
 * @throws AppError `VALIDATION_ERROR`
 */
export const OptionalBody = createParamDecorator(
  (metatype: Type<object> | undefined, context: ExecutionContext): unknown => {
    const { body = {} } = requestOf(context);
    return metatype ? checkInput(metatype, body) : body;
  },
);

/** Without members that have the name of a getter of the class: class-transformer would try to set it, and fail. */
function settable(value: object, type: Type): object {
  const isGetter = (name: string): boolean =>
    name in type.prototype && !canSet(type.prototype as object, name);
  if (!Object.keys(value).some(isGetter)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !isGetter(name)));
}

function canSet(prototype: object, name: string): boolean {
  for (
    let owner: object | null = prototype;
    owner !== null;
    owner = Object.getPrototypeOf(owner) as object | null
  ) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    if (descriptor) return descriptor.get === undefined || descriptor.set !== undefined;
  }
  return true;
}

/** A body with more members and elements in all is large. */
const LARGE = 1000;

/** The time that class-transformer takes for an object grows with the square of its members. */
const MAX_MEMBERS = 1000;

/**
 * What class-transformer converts quickly: of a large body or query, the declared fields only, without the names of
 * `@Expose({ name })`.
 *
 * @throws AppError `VALIDATION_ERROR` for a declared field with an object of too many members
 */
function convertible(body: object, fields: ReadonlySet<string>): object {
  if (!isLarge(body)) return body;
  const declared = [...fields]
    .filter((name) => Object.hasOwn(body, name))
    .map((name) => [name, (body as Record<string, unknown>)[name]] as const);
  const details = declared
    .filter(([, value]) => isWide(value))
    .map(([field]) => ({ field, message: `${field} must not have more than ${MAX_MEMBERS} members` }));
  if (details.length > 0) throw invalid(details);
  return Object.fromEntries(declared);
}

/** Stops counting at the limit: listing the members of a large object takes milliseconds. */
function isLarge(body: object): boolean {
  const pending = [body as Record<string, unknown>];
  let count = 0;
  for (let next; (next = pending.pop());) {
    for (const name in next) {
      if (++count > LARGE) return true;
      const member = next[name];
      if (typeof member === 'object' && member !== null) pending.push(member as Record<string, unknown>);
    }
  }
  return false;
}

/** Whether an object in it has too many members. */
function isWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const members: unknown[] = Object.values(value);
  return (!Array.isArray(value) && members.length > MAX_MEMBERS) || members.some(isWide);
}

const fieldNames = new Map<Type, ReadonlySet<string>>();

/** The fields with a rule. */
function fieldsOf(type: Type): ReadonlySet<string> {
  let fields = fieldNames.get(type);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    fieldNames.set(type, (fields = new Set(rules.map(({ propertyName }) => propertyName))));
  }
  return fields;
}

/** Whether a class is an `@ArgsType()` of GraphQL. */
const hasSchema = (type: Type): boolean => Reflect.getMetadata(CLASS_TYPE_METADATA, type) === 'args';

/** At most 15 digits: longer numbers would be rounded. */
const DECIMAL = /^-?(?=[\d.]{1,16}$)\d{1,15}(\.\d+)?$/;
const BOOLEANS = new Set(['true', 'false']);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Of a repeated query parameter, the first value counts; if the handler or the field
 * takes an array, all of them. A query without a class is unchanged.
 */
function withSingleValues(value: unknown, { metatype, data }: ArgumentMetadata): unknown {
  if (data !== undefined) {
    return Array.isArray(value) && metatype && !MANY.has(metatype) ? value[0] : value;
  }
  if (!metatype || metatype === Object || !isObject(value)) return value;
  const prototype = metatype.prototype as object;
  const single = Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      // The type of the property, as TypeScript emits it (`emitDecoratorMetadata`).
      const isArray = Reflect.getMetadata('design:type', prototype, name) === Array;
      return [name, Array.isArray(item) && !isArray ? item[0] : item];
    }),
  );
  const members = settable(single, metatype);
  return fieldsOf(metatype).size > 0 ? convertible(members, fieldsOf(metatype)) : members;
}

/** A parameter of these types accepts every value. */
const MANY = new Set<Function>([Array, Object]);
