import { type GqlContextType, GqlExecutionContext } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { ExecutionContext } from '@nestjs/common';
import { canonizeForwardedFor } from './forwarded-for.js';
import { RequestContext } from './request-context.js';

/** The request of a handler's call, over REST and GraphQL; over WebSocket, the one that opened the connection. */
export function requestOf(context: ExecutionContext): FastifyRequest {
  if (isGraphQL(context)) {
    return GqlExecutionContext.create(context).getContext<{ req: FastifyRequest }>().req;
  }
  if (isWebSocket(context)) return upgradeRequestOf(context.switchToWs().getClient());
  return context.switchToHttp().getRequest<FastifyRequest>();
}

export const isGraphQL = (context: ExecutionContext): boolean =>
  context.getType<GqlContextType>() === 'graphql';

export const isWebSocket = (context: ExecutionContext): boolean => context.getType() === 'ws';

/** A gateway's client, which has set `request` in `handleConnection(client, request)`. */
interface WebSocketClient {
  readonly request?: IncomingMessage;
}

const upgradeRequests = new WeakMap<WebSocketClient, FastifyRequest>();

function upgradeRequestOf(client: WebSocketClient): FastifyRequest {
  let request = upgradeRequests.get(client);
  if (!request) upgradeRequests.set(client, (request = toRequest(client.request)));
  return request;
}

/**
 * An upgrade request in the form that guards and strategies expect. It counts as a POST: a browser sends its session
 * cookie whichever site opens the connection, so the cookie is valid only with its CSRF token.
 *
 * @param more headers from the connection's parameters, because browsers cannot set any
 */
export function toRequest(
  upgrade: IncomingMessage | undefined,
  { id = '', headers = {} }: { id?: string; headers?: Record<string, unknown> } = {},
): FastifyRequest {
  const request = {
    id,
    method: 'POST',
    url: upgrade?.url ?? '',
    headers: { ...upgrade?.headers, ...headers },
    ip: upgrade ? upgradeAddress(upgrade) : '',
    raw: upgrade,
    routeOptions: {},
  } as unknown as FastifyRequest;
  request.context = new RequestContext(request);
  return request;
}

type AddressOf = (request: IncomingMessage) => string;

const ofConnection: AddressOf = ({ socket }) => socket.remoteAddress ?? '';

const addresses = new WeakMap<IncomingMessage, string>();

/** Computes `request.ip` for requests that Fastify does not handle: with the same library, from the same proxies. */
export function addressBehind(trustedProxies: readonly string[]): AddressOf {
  if (trustedProxies.length === 0) return ofConnection;
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return (request) => {
    canonizeForwardedFor(request);
    return proxyAddr.all(request, isTrusted).at(-1) ?? '';
  };
}

/** Stores the client's address of an upgrade request. */
export function rememberAddress(upgrade: IncomingMessage, address: string): void {
  addresses.set(upgrade, address);
}

/** The client's address of an upgrade request; of another server than the application's, the socket's address. */
const upgradeAddress: AddressOf = (upgrade) => addresses.get(upgrade) ?? ofConnection(upgrade);
