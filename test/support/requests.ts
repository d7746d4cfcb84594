import { randomUUID } from 'node:crypto';
import { PASSWORD, type Reply, type TestApi } from './api.js';
import { type Operation, operations, reference } from './reference.js';

/** A path with an id, which may not exist, for each parameter. */
export const fill = (path: string, id = '1'): string => path.replaceAll(/\{\w+\}/g, id);

/** Returns a body that an operation accepts, from its schema in the OpenAPI document. */
export function validBody({ requestBody }: Operation['operation']): object {
  const { $ref = '' } = requestBody.content['application/json'].schema;
  const { properties = {} } = reference.components.schemas[$ref.split('/').at(-1)] ?? {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, validValue(name, schema)]),
  );
}

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
    const pattern = withoutNames(template);
    const creation = operations.find((each) => each.method === 'POST' && withoutNames(each.path) === pattern);
    // A passkey is created by an authenticator.
    if (!creation || template === '/auth/passkeys') return 1;
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
