import type { Type } from '@nestjs/common';
import { OmitType, PartialType as GraphqlPartialType } from '@nestjs/graphql';
import { ApiProperty, type ApiPropertyOptions, DECORATORS, PartialType } from '@nestjs/swagger';

/** An input whose fields may all be absent or null. */
export function PartialInput<T>(type: Type<T>): Type<Partial<T>> {
  return withOptionalFields(PartialType(type), type);
}

/** The same for an input of GraphQL. */
export function PartialInputType<T>(type: Type<T>): Type<Partial<T>> {
  return withOptionalFields(GraphqlPartialType(type), type);
}

/** The same without some of its fields, which the class declares itself, because they have other rules. */
export function PartialInputTypeWithout<T, Name extends keyof T & string>(
  type: Type<T>,
  names: readonly Name[],
): Type<Partial<Omit<T, Name>>> {
  return withOptionalFields<Omit<T, Name>>(GraphqlPartialType(OmitType(type, names)), type, names);
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
