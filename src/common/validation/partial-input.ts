import type { Type } from '@nestjs/common';
import { PartialType as GraphqlPartialType } from '@nestjs/graphql';
import { ApiProperty, type ApiPropertyOptions, DECORATORS, PartialType } from '@nestjs/swagger';

/** An input whose fields may all be absent or null. */
export function PartialInput<T>(type: Type<T>): Type<Partial<T>> {
  return withOptionalFields(PartialType(type), type);
}

/** The same for an input of GraphQL. */
export function PartialInputType<T>(type: Type<T>): Type<Partial<T>> {
  return withOptionalFields(GraphqlPartialType(type), type);
}

/** Copies the fields' metadata for the reference. */
function withOptionalFields<T>(partial: Type<Partial<T>>, whole: Type<T>): Type<Partial<T>> {
  const prototype = whole.prototype as object;
  const names: string[] = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, prototype) ?? [];
  for (const name of names.map((key) => key.slice(1))) {
    const options: ApiPropertyOptions = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, name);
    const optional = { ...options, required: false, nullable: true } as ApiPropertyOptions;
    ApiProperty(optional)(partial.prototype as object, name);
  }
  return partial;
}
