import type { FastifyReply } from 'fastify';
import { varyOn } from './vary.js';

/** Marks a response that depends on who asks, so that no cache gives it to another caller. */
export function makePrivate(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store');
  varyOn(reply, 'Authorization');
  varyOn(reply, 'Cookie');
}

/** Allows caches to store the response; with a tag, they ask before each use. The caller's own cache, if it is private. */
export function allowStoring(reply: FastifyReply): void {
  reply.header('cache-control', isPrivate(reply) ? 'private, no-cache' : 'no-cache');
}

/** Reverts {@link allowStoring}. */
export function forbidStoring(reply: FastifyReply): void {
  if (isPrivate(reply)) reply.header('cache-control', 'no-store');
  else reply.removeHeader('cache-control');
}

const isPrivate = (reply: FastifyReply): boolean =>
  /no-store|private/.test(String(reply.getHeader('cache-control') ?? ''));
