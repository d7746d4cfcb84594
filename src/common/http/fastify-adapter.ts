import { randomUUID } from 'node:crypto';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { answerUnreadableRequest } from './unreadable-request.js';

/** 1 MiB: the largest body that any path takes, in bytes. */
const BODY_LIMIT = 1024 * 1024;

/** Longer than any request line that Node lets through, so that no id is too long to be looked at. */
export const MAX_PARAM_LENGTH = 64 * 1024;

/** Fastify as this service sets it up: identity, limits and timeouts of every request, in one place. */
export function createFastifyAdapter(): FastifyAdapter {
  return new FastifyAdapter({
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    // A process that stops answers in the envelope, by a hook of ours.
    return503OnClosing: false,
    // Milliseconds. A client has 30 s to send a request; an idle connection outlives the 60 s of common
    // load balancers, which would otherwise send a request into a connection that is being closed.
    requestTimeout: 30_000,
    connectionTimeout: 120_000,
    keepAliveTimeout: 72_000,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAM_LENGTH,
      querystringParser: firstValues,
    },
    rewriteUrl: ({ url = '/' }) => escapeUndecodable(url),
    clientErrorHandler: answerUnreadableRequest,
  });
}

/** Query parameters by name; of a repeated one the first value counts. Never throws. */
function firstValues(query: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) values[name] ??= value;
  return values;
}

/**
 * Fastify answers a path with a bad percent-encoding (`/v1/posts/%ff`) by itself, past all hooks. Taken
 * literally, it is a path like any other: an id that is no number, or a route that nobody knows.
 */
function escapeUndecodable(url: string): string {
  if (!url.includes('%')) return url;
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
