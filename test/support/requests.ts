import { randomUUID } from 'node:crypto';
import { PASSWORD } from './accounts.js';
import type { Reply, TestApi } from './api.js';
import { type Operation, operations, reference } from './reference.js';

/** A path with an id, which may not exist, for each parameter. */
export const fill = (path: string, id = '1'): string => path.replaceAll(/\{\w+\}/g, id);

/** The fields of the body of an operation, of the first of several, and those that it requires. */
export function fieldsOf({ requestBody }: Operation['operation']): { properties: any; required: string[] } {
  const { oneOf, $ref = oneOf?.[0].$ref ?? '' } = requestBody?.content['application/json']?.schema ?? {};
  const { properties = {}, required = [] } = reference.components.schemas[$ref.split('/').at(-1)] ?? {};
  return { properties, required };
}

/** Returns a body that an operation accepts, from its schema in the OpenAPI document. */
export const validBody = (operation: Operation['operation']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fieldsOf(operation).properties).map(([name, schema]) => [name, validValue(name, schema)]),
  );

function validValue(name: string, { type, enum: words, format, pattern, minimum, example }: any): unknown {
  const types = new Set([type].flat());
  if (name === 'url' || pattern !== undefined || format === 'uuid' || types.has('array')) return example;
  if (types.has('object')) return example ?? {};
  if (types.has('boolean')) return true;
  if (words) return words[0];
  if (name === 'email') return 'reused@example.com';
  if (name === 'password') return PASSWORD;
  if (format === 'date-time') return example;
  if (name === 'phone') return '+44 20 7946 0000';
  if (types.has('string')) return 'Some words';
  return minimum ?? 1;
}

/** Whether {@link existingPath} can fill a path: what follows its first parameter can be created there. */
export function isFillable(path: string): boolean {
  const [, ...further] = path.matchAll(/\/\{\w+\}/g);
  return further.every(({ index }) => creationIn(path.slice(0, index)) !== undefined);
}

/** The operation that creates a resource in a collection. */
function creationIn(collection: string): Operation | undefined {
  const pattern = withoutNames(collection);
  return operations.find(({ method, path }) => method === 'POST' && withoutNames(path) === pattern);
}

/**
 * Fills a path such as `/v1/notes/{noteId}/comments/{id}` with existing ids: for each parameter, it creates a resource
 * in the collection, or uses 1 if the collection has no POST.
 *
 * @param headers headers of those requests
 */
export async function existingPath(
  api: TestApi,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  let collection = '';
  let existing = '';
  for (const segment of path.split('/').slice(1)) {
    existing += `/${segment.startsWith('{') ? await createIn(collection, existing) : segment}`;
    collection += `/${segment}`;
  }
  return existing;

  async function createIn(template: string, url: string): Promise<string | number> {
    const creation = creationIn(template);
    if (!creation) return 1;
    const { status, body, text } = await send(api, 'POST', url, validBody(creation.operation), headers);
    if (status !== 201) throw new Error(`Nothing could be posted to ${url}: ${text}`);
    return (body.data ?? body).id;
  }
}

/** Removes the names of parameters, because `{id}` in one path may be `{postId}` in another. */
const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/** Sends a request with a new idempotency key; a text body is sent unchanged. */
export const send = (
  api: TestApi,
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> =>
  api.send({
    method,
    url,
    headers: {
      'idempotency-key': randomUUID(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined &&
      method !== 'GET' && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
