import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Config } from '../../config/config.js';
import { GuardedServer } from './guarded-server.js';
import { parseQuery } from './query.js';
import { handleUnreadableRequest } from './unreadable-request.js';

/** 1 MiB: the largest body that any path takes, in bytes. */
const BODY_LIMIT = 1024 * 1024;

/** Longer than any request line that Node lets through, so that no id is too long to be looked at. */
export const MAX_PARAM_LENGTH = 64 * 1024;

/**
 * Milliseconds. A client has 30 s to send a request. An idle connection outlives the 60 s of common load balancers,
 * which would otherwise send a request into a connection that is being closed. Node looks every 30 s by default, and
 * responds to a request without `Host` by itself, past all hooks.
 */
const SERVER_OPTIONS = {
  requestTimeout: 30_000,
  headersTimeout: 15_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1000,
  requireHostHeader: false,
};

/** Without any byte in either direction, in milliseconds. */
const CONNECTION_TIMEOUT = 120_000;

/**
 * Nest's adapter, with the middleware engine only where it is used: it costs an eighth of a small request. A
 * module's `consumer.apply()` registers the engine by itself; `app.use()` needs it when the application starts.
 */
class LeanFastifyAdapter extends FastifyAdapter {
  private usesMiddleware = false;

  override use(...middleware: Parameters<FastifyAdapter['use']>): ReturnType<FastifyAdapter['use']> {
    this.usesMiddleware = true;
    return super.use(...middleware);
  }

  override async init(): Promise<void> {
    if (this.usesMiddleware) await super.init();
  }
}

/** Fastify as this service sets it up: identity, limits and timeouts of every request, in one place. */
export function createFastifyAdapter({ trustedProxies }: Config): FastifyAdapter {
  return new LeanFastifyAdapter({
    // Anyone can send `X-Forwarded-For`: it says who calls only when it comes from a proxy of ours.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    // A process that stops serves what still arrives on open connections.
    return503OnClosing: false,
    serverFactory: (handler: RequestListener) =>
      new GuardedServer(SERVER_OPTIONS, handler).setTimeout(CONNECTION_TIMEOUT),
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAM_LENGTH,
      querystringParser: parseQuery,
    },
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
    clientErrorHandler: handleUnreadableRequest,
  });
}

/**
 * The address as the router is to see it. Node also takes targets that are no path (`OPTIONS *`, RFC 9112,
 * section 3.2.4), and Fastify rejects a bad percent-encoding (`/v1/posts/%ff`) by itself, past all hooks.
 * Taken literally both are paths like any other: routes that nobody knows, or an id that is no number.
 */
function routableUrl(url: string): string {
  const target = /^(?:\/|https?:\/\/)/i.test(url) ? url : `/${url}`;
  if (!target.includes('%')) return target;
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  try {
    decodeURIComponent(path);
    return target;
  } catch {
    return path.replaceAll('%', '%25') + target.slice(path.length);
  }
}
