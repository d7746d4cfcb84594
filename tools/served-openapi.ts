type Json = Record<string, any>;

/** On an operation: whether credentials are required or optional unless `WRITE_ACCESS` is `open`. */
const UNLESS_OPEN = 'x-credentials-unless-open';

/**
 * The document as it holds in a mode. While `WRITE_ACCESS` is `open`, operations that depend on the setting look at no
 * credentials.
 */
export function forMode(document: Json, mode: 'open' | 'accounts'): Json {
  for (const item of Object.values<Json>(document['paths'])) {
    for (const operation of Object.values<Json>(item)) {
      const { [UNLESS_OPEN]: credentials, security } = operation;
      delete operation[UNLESS_OPEN];
      if (credentials === undefined) continue;
      if (mode === 'open') operation['security'] = [];
      else if (credentials === 'required')
        operation['security'] = security.filter((way: object) => Object.keys(way).length > 0);
    }
  }
  return document;
}

/**
 * Converts the document for tools that do not support OpenAPI 3.1. Of the differences, its
 * schemas use `examples`, `const` and the type `null`, and it describes webhooks.
 */
export function toOpenApi30({ webhooks, ...document }: Json): Json {
  const ofWebhooks = [...JSON.stringify(webhooks).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
    ([, name]) => name!,
  );
  const schemas = { ...document['components'].schemas };
  for (const name of ofWebhooks) delete schemas[name];
  const components = { ...document['components'], schemas };
  return { ...(convert({ ...document, components }) as Json), openapi: '3.0.3' };
}

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
