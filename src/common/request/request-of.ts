import type { IncomingMessage } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import { type GqlContextType, GqlExecutionContext } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import { upgradeAddress } from './upgrade-address.js';

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
  return {
    id,
    method: 'POST',
    url: upgrade?.url ?? '',
    headers: { ...upgrade?.headers, ...headers },
    ip: upgrade ? upgradeAddress(upgrade) : '',
    raw: upgrade,
    routeOptions: {},
  } as unknown as FastifyRequest;
}
