import type { OpenAPIObject } from '@nestjs/swagger';

type Json = Record<string, any>;

/**
 * Converts the document for tools that do not support OpenAPI 3.1. Of the differences, its
 * schemas use `examples`, `const` and the type `null`.
 */
export const toOpenApi30 = (document: OpenAPIObject): OpenAPIObject => ({
  ...(convert(document) as OpenAPIObject),
  openapi: '3.0.3',
});

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  if (typeof value !== 'object' || value === null) return value;

  const { oneOf, ...whole } = value as Json;
  if (Array.isArray(oneOf) && oneOf.some(isNull)) {
    // Currently there is exactly one other alternative.
    return { ...(convert({ ...whole, ...oneOf.find((each) => !isNull(each)) }) as Json), nullable: true };
  }

  const { examples, const: constant, type, ...others } = value as Json;
  return {
    ...typed(type),
    ...Object.fromEntries(Object.entries(others).map(([key, child]) => [key, convert(child)])),
    // Examples of a response have names, and are the same in both versions.
    ...(Array.isArray(examples) ? { example: examples[0] } : examples && { examples }),
    ...(constant !== undefined && { enum: [constant] }),
  };
}

const isNull = ({ type }: Json): boolean => type === 'null';

function typed(type: unknown): Json {
  if (!Array.isArray(type)) return type === undefined ? {} : { type: convert(type) };
  return { type: type.find((name) => name !== 'null'), nullable: true };
}
