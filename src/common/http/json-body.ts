import { applyDecorators, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { AppError } from '../errors/errors.js';
import { runWithRequestId } from '../logging/request-context.js';
import type { Metrics } from '../metrics/metrics.js';
import { parseIJson } from './i-json.js';
import { LargeBodies } from './large-bodies.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link AnyContentType}. */
    anyContentType?: boolean;
    bodyLimit?: number;
    keepBodyText?: boolean;
  }
}

interface BodyOptions {
  /** The largest body in bytes, instead of the default of 1 MiB. */
  readonly bodyLimit?: number;
  /** Whether the handler uses {@link bodyTextOf}. */
  readonly keepBodyText?: boolean;
  /** Whether the response contains {@link JsonText}. */
  readonly carriesJsonText?: boolean;
}

/** `application/json` and the `+json` suffix (RFC 6839), with or without parameters. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the handler's body as JSON whatever its Content-Type is, and a body that cannot be
 * read is a `VALIDATION_ERROR`. Other handlers require a JSON type (415), and the error is `MALFORMED_REQUEST`.
 */
export const AnyContentType = (options: BodyOptions = {}): MethodDecorator =>
  applyDecorators(RouteConfig({ anyContentType: true, ...options }), SetMetadata(ANY_CONTENT_TYPE, true));

/** Metadata key, for the reference. */
export const ANY_CONTENT_TYPE = Symbol('any content type');

const bodyTexts = new WeakMap<FastifyRequest, string>();

/** The JSON text of the body, unchanged; `undefined` without a body. For routes that store it. */
export const bodyTextOf = (request: FastifyRequest): string | undefined => bodyTexts.get(request);

/** An `onRoute` hook: configures Fastify by the options of the route's body. */
export function setUpBody(route: RouteOptions): void {
  const { anyContentType, bodyLimit } = route.config ?? {};
  if (bodyLimit !== undefined) route.bodyLimit = bodyLimit;
  if (anyContentType) {
    route.onRequest = ({ headers }, _reply, done) => {
      headers['content-type'] = 'application/json';
      done();
    };
  }
}

/**
 * Replaces a body that could not be read: any access to it throws the error. So
 * the caller and the id are checked before the body, and no handler treats an unreadable body as an empty one.
 */
function unreadableBody(error: AppError): object {
  const fail = () => {
    throw error;
  };
  const body = new Proxy({}, { get: fail, has: fail, ownKeys: fail });
  unreadableBodies.add(body);
  return body;
}

const unreadableBodies = new WeakSet();

/** For code that runs before the body may be accessed. */
export const isUnreadable = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && unreadableBodies.has(body);

/** Bodies are JSON only; Fastify rejects every other type with 415. */
export function readJsonBodies(fastify: FastifyInstance, metrics: Metrics): void {
  fastify.removeAllContentTypeParsers();
  const large = new LargeBodies(fastify, metrics);

  fastify.addHook('onRequest', ({ headers }, _reply, done) => {
    const { 'content-encoding': encoding = 'identity' } = headers;
    // RFC 9110, section 8.4
    if (encoding === 'identity') done();
    else done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed'));
  });

  const read = (
    request: FastifyRequest,
    bytes: Buffer,
    done: (error: Error | null, body?: unknown) => void,
  ) => {
    const { anyContentType, keepBodyText } = request.routeOptions.config;
    let body: unknown;
    try {
      body = parseIJson(bytes);
      if (keepBodyText) bodyTexts.set(request, bytes.toString());
    } catch (error) {
      const code = anyContentType ? 'VALIDATION_ERROR' : 'MALFORMED_REQUEST';
      const sentence = `The body ${(error as Error).message}`;
      body = unreadableBody(new AppError(code, sentence, { cause: error }));
    }
    // The bytes arrived in events of the connection, whose asynchronous context is not that of the request.
    runWithRequestId(request.id, () => done(null, body));
  };

  fastify.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0) {
      done(null);
      return;
    }
    try {
      large.begin(request, bytes.length, () => read(request, bytes as Buffer, done));
    } catch (error) {
      done(error as Error);
    }
  });
}
