import type { FastifyReply } from 'fastify';

/** Removes the tag from an error response; it may have been set before the error. */
export function removeTag(reply: FastifyReply): void {
  if (!reply.hasHeader('etag')) return;
  reply.removeHeader('etag');
  reply.removeHeader('cache-control');
}
