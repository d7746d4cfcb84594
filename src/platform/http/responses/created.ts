import type { FastifyReply } from 'fastify';
import { stringify } from '../json-text.js';
import type { Versioned } from './expected-version.js';
import { entityTag } from './entity-tag.js';

/**
 * The response of a handler that has created a resource: sets its `Location`.
 *
 * @param collection path of the resource's collection, such as `/v1/posts`
 * @returns the body, `{data}`
 */
export function created<View extends { readonly id: number | string }>(
  reply: FastifyReply,
  collection: string,
  data: View,
): { data: View } {
  reply.header('location', `${collection}/${data.id}`);
  return { data };
}

/**
 * The whole response that a REST handler would send for a creation, for a resolver that creates the same resource.
 *
 * @param isPrivate whether it depends on the caller
 */
export const createdResponse = (
  collection: string,
  { view, row }: { readonly view: { readonly id: number | string }; readonly row: Versioned },
  isPrivate: boolean,
) => ({
  status: 201,
  headers: {
    etag: entityTag(row),
    'cache-control': isPrivate ? 'private, no-cache' : 'no-cache',
    location: `${collection}/${view.id}`,
    'content-type': 'application/json; charset=utf-8',
  },
  body: stringify({ data: view }),
});
