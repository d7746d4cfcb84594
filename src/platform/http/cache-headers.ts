import type { FastifyReply } from 'fastify';

/** Adds a request header to `Vary` (RFC 9110, section 12.5.5). */
export function varyOn(reply: FastifyReply, header: string): void {
  const named = String(reply.getHeader('vary') ?? '')
    .split(',')
    .map((name) => name.trim());
  if (!named.includes(header)) reply.header('vary', [...named, header].filter(Boolean).join(', '));
}

/** Marks a response that depends on the caller, so that no cache gives it to another caller. */
export function makePrivate(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store');
  varyOn(reply, 'Authorization');
  varyOn(reply, 'Cookie');
}

/** Allows caches to store the response; with a tag, they ask before each use. The caller's own cache, if it is private. */
export function allowStoring(reply: FastifyReply): void {
  reply.header('cache-control', isPrivate(reply) ? 'private, no-cache' : 'no-cache');
}

const isPrivate = (reply: FastifyReply): boolean =>
  /no-store|private/.test(String(reply.getHeader('cache-control') ?? ''));

/** Removes `Location`, `Link` and the tag from an error response; they may have been set before the error. */
export function removeResourceHeaders(reply: FastifyReply): void {
  reply.removeHeader('location');
  reply.removeHeader('link');
  if (!reply.hasHeader('etag')) return;
  reply.removeHeader('etag');
  if (isPrivate(reply)) reply.header('cache-control', 'no-store');
}
