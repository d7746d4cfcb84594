import type { FastifyReply } from 'fastify';
import { forbidStoring } from './private.js';

/** Removes the tag from an error response; it may have been set before the error. */
export function removeTag(reply: FastifyReply): void {
  if (!reply.hasHeader('etag')) return;
  reply.removeHeader('etag');
  forbidStoring(reply);
}
