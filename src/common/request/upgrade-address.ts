import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

type AddressOf = (request: IncomingMessage) => string;

const ofConnection: AddressOf = ({ socket }) => socket.remoteAddress ?? '';

const addresses = new WeakMap<IncomingMessage, string>();

/** Computes `request.ip` for requests that Fastify does not handle: with the same library, from the same proxies. */
export function addressBehind(trustedProxies: readonly string[]): AddressOf {
  if (trustedProxies.length === 0) return ofConnection;
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return (request) => proxyAddr.all(request, isTrusted).at(-1) ?? '';
}

/** Stores the client's address of an upgrade request. */
export function rememberAddress(upgrade: IncomingMessage, address: string): void {
  addresses.set(upgrade, address);
}

/** The client's address of an upgrade request; of another server than the application's, the socket's address. */
export const upgradeAddress: AddressOf = (upgrade) => addresses.get(upgrade) ?? ofConnection(upgrade);
