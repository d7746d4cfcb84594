import { isIPv4, isIPv6 } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Address4, Address6 } from 'ip-address';
import { canonicalAddress } from './forwarded-for.js';
import { currentRequest } from './request-context.js';
import { requestOf } from './request-of.js';

/** The client of a request. */
export interface ClientInfo {
  readonly address: string;
  /** The `User-Agent`, cut at 200 characters; empty without one. */
  readonly agent: string;
}

/** The client's address: of the connection, or behind trusted proxies the one that they forward. */
export const clientOf = ({
  ip,
  headers,
}: Pick<FastifyRequest, 'headers'> & { ip?: string | undefined }): ClientInfo => ({
  // A connection that was closed before it was accepted has none.
  address: canonicalAddress(ip ?? '') ?? '',
  agent: headers['user-agent']?.slice(0, 200) ?? '',
});

/** The client of the current request; `undefined` in background work and commands. */
export function currentClient(): ClientInfo | undefined {
  const request = currentRequest();
  return request && clientOf(request);
}

/** {@link clientOf} the request, for a handler. */
export const Client = createParamDecorator((_: unknown, context: ExecutionContext): ClientInfo =>
  clientOf(requestOf(context)),
);

/**
 * The key of a client in limits: an IPv4 address, or the /64 of an IPv6 address, which
 * belongs to one subscriber.
 */
export const networkOf = (address: string): string =>
  isIPv6(address) ? new Address6(`${address}/64`).startAddress().correctForm() : address;

/** The network around a client: the /24 of an IPv4 address, or the /48 of an IPv6 address, which one site has. */
export function siteOf(address: string): string {
  if (isIPv6(address)) return new Address6(`${address}/48`).startAddress().correctForm();
  return isIPv4(address) ? new Address4(`${address}/24`).startAddress().correctForm() : address;
}
