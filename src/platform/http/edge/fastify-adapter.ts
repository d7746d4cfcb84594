import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Config } from '../../config/config.js';
import { MAX_PARAM_LENGTH } from '../routes.js';
import { GuardedServer } from './guarded-server.js';
import { parseQuery } from '../query.js';

/** 1 MiB: the default limit of a body, in bytes. */
const BODY_LIMIT = 1024 * 1024;

/** The maximum time without any byte in either direction, in a request or between two, in milliseconds. */
const IDLE = 30_000;

/**
 * Milliseconds. A client has 30 s to send a request. By default, Node checks every 30 s, and responds itself to a request
 * without `Host`, bypassing all hooks.
 */
const SERVER_OPTIONS = {
  requestTimeout: 30_000,
  headersTimeout: 15_000,
  keepAliveTimeout: IDLE,
  connectionsCheckingInterval: 1000,
  requireHostHeader: false,
};

/**
 * Nest's adapter, with the middleware engine only if it is used: it costs 13 % of a small request. A
 * module's `consumer.apply()` registers the engine; `app.use()` requires it at the start of the application.
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

/** Creates Fastify: request id, limits and timeouts of every request. */
export function createFastifyAdapter({ trustedProxies }: Config): FastifyAdapter {
  return new LeanFastifyAdapter({
    // Any client can send `X-Forwarded-For`: it is trusted only from the proxies of `TRUST_PROXY`.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    // A draining process serves requests on open connections.
    return503OnClosing: false,
    serverFactory: (handler: RequestListener) => new GuardedServer(SERVER_OPTIONS, handler).setTimeout(IDLE),
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAM_LENGTH,
      querystringParser: parseQuery,
    },
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
  });
}

/**
 * The address for the router. Node also accepts targets that are no path (`OPTIONS *`, RFC 9112,
 * section 3.2.4), and Fastify rejects a bad percent-encoding (`/v1/posts/%ff`) itself, bypassing all hooks.
 * Taken literally, both are unknown paths or invalid ids.
 */
function routableUrl(url: string): string {
  const target = url.startsWith('/') || /^https?:\/\//i.test(url) ? url : `/${url}`;
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
