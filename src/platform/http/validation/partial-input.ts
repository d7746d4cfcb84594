import type { Type } from '@nestjs/common';
import { OmitType, PartialType as GraphqlPartialType } from '@nestjs/graphql';
import { ApiProperty, type ApiPropertyOptions, DECORATORS, PartialType } from '@nestjs/swagger';

/** An input whose fields may all be absent or null. */
export function PartialInput<T>(type: Type<T>): Type<Partial<T>> {
  return withOptionalFields(PartialType(type), type);
}

/**
 * The same for an input of GraphQL.
 *
 * @param without fields that the class declares itself, because they have other rules
 */
export function PartialInputType<T, Name extends keyof T & string = never>(
  type: Type<T>,
  without: readonly Name[] = [],
): Type<Partial<Omit<T, Name>>> {
  return withOptionalFields<Omit<T, Name>>(GraphqlPartialType(OmitType(type, without)), type, without);
}

/** Copies the fields' metadata for the reference. */
function withOptionalFields<T>(
  partial: Type<Partial<T>>,
  whole: Type<T>,
  without: readonly string[] = [],
): Type<Partial<T>> {
  const prototype = whole.prototype as object;
  const all: string[] = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, prototype) ?? [];
  for (const name of all.map((key) => key.slice(1))) {
    if (without.includes(name)) continue;
    const options: ApiPropertyOptions = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, name);
    const optional = { ...options, required: false, nullable: true } as ApiPropertyOptions;
    ApiProperty(optional)(partial.prototype as object, name);
  }
  return partial;
}
