import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { allowStoring } from '../headers/private.js';
import { entityTag, isNoneMatch, type Versioned } from './entity-tags.js';
import { marksHandler } from './marks-handler.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the client has the representation already. */
    isNotModified: boolean;
  }
}

/** Sets the `ETag` of a row on the response. */
export class EntityTag {
  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
  ) {}

  /**
   * If the `If-None-Match` of a `GET` or `HEAD` has the tag, the response becomes a 304.
   *
   * @param row the row that the response shows, as it was read or written
   * @param format as in `entityTag`
   * @returns the row
   */
  of<T extends Versioned>(row: T, format?: string): T {
    const { request, reply } = this;
    const tag = entityTag(row, format);
    reply.header('etag', tag);
    allowStoring(reply);
    const { 'if-none-match': header } = request.headers;
    if (header !== undefined && READS.has(request.method) && !isNoneMatch(header, tag)) {
      request.isNotModified = true;
      // The body is not sent, so it is not computed. A later error still takes precedence.
      if (request.method === 'GET') {
        reply.serializer((payload) => (reply.statusCode === 200 ? '' : JSON.stringify(payload)));
      }
    }
    return row;
  }
}

const READS = new Set(['GET', 'HEAD']);

/** Metadata key: the response of the handler has an `ETag`. */
export const HAS_TAG = Symbol('has tag');

/** The {@link EntityTag} of the response, for a handler to fill in. */
export const Tag = createParamDecorator(
  (_: unknown, context: ExecutionContext) => {
    const http = context.switchToHttp();
    return new EntityTag(http.getRequest(), http.getResponse());
  },
  [marksHandler(HAS_TAG)],
);

/** Sends 304 without a body if the client has the representation (RFC 9110, section 15.4.5). */
export function sendNotModified(fastify: FastifyInstance): void {
  fastify.decorateRequest('isNotModified', false);
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (!request.isNotModified || reply.statusCode !== 200) {
      done(null, payload);
      return;
    }
    reply.code(304).removeHeader('content-type');
    // Fastify drops the body of a HEAD itself, after it has computed its length.
    done(null, request.method === 'HEAD' ? payload : null);
  });
}
