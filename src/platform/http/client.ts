import { isIPv4, isIPv6 } from 'node:net';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Address4, Address6 } from 'ip-address';
import type { ClientInfo } from './request-context.js';
import { requestOf } from './request-of.js';

export type { ClientInfo };

/** The client of a request, for a handler. */
export const Client = createParamDecorator(
  (_: unknown, context: ExecutionContext): ClientInfo => requestOf(context).context.client,
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
