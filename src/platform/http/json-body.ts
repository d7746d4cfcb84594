import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Registry } from 'prom-client';
import { AppError, ERRORS } from './errors/errors.js';
import { runInContext } from './request-context.js';
import { ConfigureRoute } from './route-config.js';
import { parseIJson, scanIJson } from './i-json.js';
import { BodyMemory, boundBodies } from './body-memory.js';
import { LARGE, LargeBodies } from './large-bodies.js';
import { appendHook } from './routes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link AnyContentType}. */
    anyContentType?: boolean;
    bodyLimit?: number;
    maxItems?: number;
    keepBodyText?: boolean;
  }
}

interface BodyOptions {
  /** The largest body in bytes, instead of the default of 1 MiB. */
  readonly bodyLimit?: number;
  /** The largest number of members and array elements in the body, instead of the default of 10,000. */
  readonly maxItems?: number;
  /** Whether the handler uses `request.context.bodyText`. */
  readonly keepBodyText?: boolean;
}

/** `application/json` and the `+json` suffix (RFC 6839), with or without parameters. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the handler's body as JSON whatever its Content-Type is, and a body that cannot be
 * read is a `VALIDATION_ERROR`. Other handlers require a JSON type (415), and the error is `MALFORMED_REQUEST`.
 */
export const AnyContentType = (options: BodyOptions = {}): MethodDecorator =>
  applyDecorators(ConfigureRoute({ anyContentType: true, ...options }), SetMetadata(ANY_CONTENT_TYPE, true));

/** For a controller: its bodies are small, at most 64 KiB. */
export const SmallBodies = (): ClassDecorator => ConfigureRoute({ bodyLimit: 64 * 1024 });

/** Metadata key, for the reference. */
export const ANY_CONTENT_TYPE = Symbol('any content type');

/** Configures Fastify by the options of the route's body. */
function setUpBody(route: RouteOptions): void {
  const { anyContentType, bodyLimit } = route.config ?? {};
  if (bodyLimit !== undefined) route.bodyLimit = bodyLimit;
  if (anyContentType) {
    appendHook(route, 'onRequest', ({ headers }, _reply, done) => {
      headers['content-type'] = 'application/json';
      done();
    });
  }
}

/**
 * Replaces a body that could not be read: any access to it throws the error. So
 * the caller and the id are checked before the body, and no handler treats an unreadable body as an empty one.
 */
function unreadableBody(request: FastifyRequest, cause: SyntaxError): object {
  const code = request.routeOptions.config.anyContentType ? 'VALIDATION_ERROR' : 'MALFORMED_REQUEST';
  const fail = () => {
    throw new AppError(code, `The body ${cause.message}`, { cause });
  };
  request.context.isBodyUnreadable = true;
  return new Proxy({}, { get: fail, has: fail, ownKeys: fail });
}

/** Whether a request has a body (RFC 9112, section 6.3). */
const sendsBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Bodies are JSON only; every other type is rejected with 415. */
export const jsonBodies = fastifyPlugin<{ registry: Registry }>(
  (fastify, { registry }, done) => {
    const large = new LargeBodies(registry);
    const memory = new BodyMemory();
    fastify.addHook('onRoute', (route) => {
      setUpBody(route);
      boundBodies(route, memory);
      large.release(route);
    });
    fastify.addHook('onRequest', ({ headers }, _reply, next) => {
      // Names of codings have no letter case (RFC 9110, section 8.4.1).
      const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
      if (encoding === 'identity' || !sendsBody(headers)) next();
      else next(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed'));
    });

    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, bytes, parsed) => {
      // The bytes arrived in events of the connection, whose asynchronous context is not that of the request.
      void runInContext(request.context, () =>
        read(request, bytes as Buffer, large).then(({ body }) => parsed(null, body), parsed),
      );
    });
    // Without a type there may be no body: a client that sends in chunks does not say so in the headers.
    fastify.addContentTypeParser('*', ({ headers }, payload, parsed) => {
      const unsupported = new AppError('UNSUPPORTED_MEDIA_TYPE', ERRORS.UNSUPPORTED_MEDIA_TYPE.message);
      if (headers['content-type'] === undefined) {
        isEmpty(payload).then((empty) => parsed(empty ? null : unsupported), parsed);
      } else parsed(unsupported);
    });
    done();
  },
  // A request without a route is rejected before its body is read.
  { name: 'body', dependencies: ['log', 'unrouted'] },
);

function isEmpty(payload: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    payload.once('data', () => resolve(false));
    payload.once('end', () => resolve(true));
    payload.once('error', reject);
  });
}

/** @returns the body in an object: a promise of the body itself would access it */
async function read(request: FastifyRequest, bytes: Buffer, large: LargeBodies): Promise<{ body?: unknown }> {
  if (bytes.length === 0) return {};
  const { maxItems, keepBodyText } = request.routeOptions.config;
  const isLong = bytes.length >= LARGE.bytes;
  if (isLong) await large.acquire(request);
  try {
    const scanned = scanIJson(bytes, maxItems);
    if (!isLong && scanned.items >= LARGE.items) await large.acquire(request);
    const body = parseIJson(scanned);
    if (keepBodyText) request.context.bodyText = scanned.text;
    return { body };
  } catch (error) {
    if (error instanceof SyntaxError) return { body: unreadableBody(request, error) };
    throw error;
  }
}
