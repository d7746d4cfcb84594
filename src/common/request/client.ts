import { isIPv6 } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Address6 } from 'ip-address';
import { requestOf } from './request-of.js';

/** Where a request comes from, as far as can be told. */
export interface ClientInfo {
  readonly address: string;
  /** The `User-Agent`, cut at 200 characters; empty without one. */
  readonly agent: string;
}

/** The client of the connection; behind trusted proxies, the client that these name. */
export const clientOf = ({ ip, headers }: FastifyRequest): ClientInfo => ({
  // An IPv4 client of a socket that takes both is the same client.
  address: ip.replace(/^::ffff:(?=\d+\.)/i, ''),
  agent: headers['user-agent']?.slice(0, 200) ?? '',
});

/** {@link clientOf} the request, for a handler. */
export const Client = createParamDecorator((_: unknown, context: ExecutionContext): ClientInfo =>
  clientOf(requestOf(context)),
);

/**
 * The client that an address counts for in limits: an IPv4 address by itself, an IPv6 address by its /64, which
 * is what one subscriber has.
 */
export const networkOf = (address: string): string =>
  isIPv6(address) ? new Address6(`${address}/64`).startAddress().correctForm() : address;
