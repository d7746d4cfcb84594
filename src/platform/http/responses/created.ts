import type { FastifyReply } from 'fastify';

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
