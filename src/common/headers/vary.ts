import type { FastifyReply } from 'fastify';

/** Adds a request header to `Vary` (RFC 9110, section 12.5.5). */
export function varyOn(reply: FastifyReply, header: string): void {
  const named = String(reply.getHeader('vary') ?? '')
    .split(',')
    .map((name) => name.trim());
  if (!named.includes(header)) reply.header('vary', [...named, header].filter(Boolean).join(', '));
}
