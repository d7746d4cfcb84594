import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageLinks } from '../pagination/links.js';
import { CursorPage, Page } from '../pagination/page.js';
import { Created } from './created.js';

/** Says in headers what the answer is about: `Location` of what was made, `Link` from page to page. */
export function setResourceHeaders({ url }: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  if (payload instanceof Created) reply.header('location', payload.location);
  if (payload instanceof Page || payload instanceof CursorPage) {
    const links = pageLinks(url, payload);
    if (links) reply.header('link', links);
  }
}
