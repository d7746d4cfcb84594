import { Res, SetMetadata } from '@nestjs/common';
import type { FastifyReply, onSendHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { allowStoring } from '../cache-headers.js';
import { appendHook } from '../routes.js';
import type { Versioned } from './expected-version.js';

/**
 * The strong entity tag of a representation (RFC 9110, section 8.8.3).
 *
 * @param format distinguishes the representations of one row; empty for JSON
 */
export function entityTag(row: Versioned, format = ''): string {
  return `"${row.version}-${timeOf(row).toString(36)}${format}"`;
}

function timeOf(row: Versioned): number {
  if ('updated_at' in row) return Date.parse(row.updated_at);
  return ('updatedAt' in row ? row.updatedAt : row.createdAt).getTime();
}

/** One element of a list, which may be empty (RFC 9110, section 5.6.1). */
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/gy;

/** The tags of `If-Match` or `If-None-Match`, or `*`; `undefined` for what is not a list of entity tags. */
export function parseTags(header: string): '*' | readonly string[] | undefined {
  if (header.trim() === '*') return '*';
  const elements = [...header.matchAll(ELEMENT)];
  const length = elements.reduce((sum, [element]) => sum + element.length, 0);
  const tags = elements.flatMap(([, tag]) => tag ?? []);
  return length === header.length && tags.length > 0 ? tags : undefined;
}

/** Weak comparison, for `If-None-Match` (RFC 9110, section 13.1.2). A header that is no list matches nothing. */
function isNoneMatch(header: string, tag: string): boolean {
  // The usual case.
  if (header === tag) return false;
  const tags = parseTags(header);
  return tags !== '*' && !tags?.some((each) => each.replace(/^W\//, '') === tag);
}

/** For decorators of parameters: sets metadata of the handler whose parameter is decorated, for the reference. */
export const marksHandler =
  (key: symbol): ParameterDecorator =>
  (target, name) => {
    SetMetadata(key, true)(target, name!, Object.getOwnPropertyDescriptor(target, name!)!);
  };

/**
 * Sets the `ETag` of a row on the response. If the `If-None-Match` of a `GET` or `HEAD` has the tag, the response
 * becomes a 304.
 *
 * @param row the row that the response shows, as it was read or written
 * @param format as in `entityTag`
 * @returns the row
 */
export function withEntityTag<T extends Versioned>(reply: FastifyReply, row: T, format?: string): T {
  const { request } = reply;
  const tag = entityTag(row, format);
  reply.header('etag', tag);
  allowStoring(reply);
  const { 'if-none-match': header } = request.headers;
  if (header !== undefined && READS.has(request.method) && !isNoneMatch(header, tag)) {
    request.context.isNotModified = true;
    // The body is not sent, so it is not computed. A later error still takes precedence.
    if (request.method === 'GET') {
      reply.serializer((payload) => (reply.statusCode === 200 ? '' : JSON.stringify(payload)));
    }
  }
  return row;
}

const READS = new Set(['GET', 'HEAD']);

/** Metadata key: the response of the handler has an `ETag`. */
export const HAS_TAG = Symbol('has tag');

/** `@Res({ passthrough: true })` for a handler that calls {@link withEntityTag}, whose header it adds to the reference. */
export const ReplyWithEntityTag = (): ParameterDecorator => (target, name, index) => {
  Res({ passthrough: true })(target, name, index);
  marksHandler(HAS_TAG)(target, name, index);
};

/** Sends 304 without a body if the client has the representation (RFC 9110, section 15.4.5). */
export const entityTags = fastifyPlugin(
  (fastify, _options, done) => {
    fastify.addHook('onRoute', (route) => {
      if (![route.method].flat().some((method) => READS.has(method))) return;
      appendHook(route, 'onSend', sendNotModified);
    });
    done();
  },
  { name: 'entity tags', dependencies: ['routes'] },
);

const sendNotModified: onSendHookHandler = (request, reply, payload, done) => {
  if (!request.context.isNotModified || reply.statusCode !== 200) {
    done(null, payload);
    return;
  }
  reply.code(304).removeHeader('content-type');
  // Fastify drops the body of a HEAD itself, after it has computed its length.
  done(null, request.method === 'HEAD' ? payload : null);
};
