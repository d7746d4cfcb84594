import type { FastifyReply } from 'fastify';

/** An error has no tag, though it may come after one was set. */
export function removeTag(reply: FastifyReply): void {
  if (!reply.hasHeader('etag')) return;
  reply.removeHeader('etag');
  reply.removeHeader('cache-control');
}
