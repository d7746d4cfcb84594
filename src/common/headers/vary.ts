import type { FastifyReply } from 'fastify';

/** Tells caches that the response depends on a request header (RFC 9110, section 12.5.5), besides those named before. */
export function varyOn(reply: FastifyReply, header: string): void {
  const named = String(reply.getHeader('vary') ?? '')
    .split(',')
    .map((name) => name.trim());
  if (!named.includes(header)) reply.header('vary', [...named, header].filter(Boolean).join(', '));
}
