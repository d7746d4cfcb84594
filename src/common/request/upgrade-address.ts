import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

type AddressOf = (request: IncomingMessage) => string;

const ofConnection: AddressOf = ({ socket }) => socket.remoteAddress ?? '';

const addresses = new WeakMap<IncomingMessage, string>();

/** How Fastify finds `request.ip`, for requests that it does not see: by the same library, from the same proxies. */
export function addressBehind(trustedProxies: readonly string[]): AddressOf {
  if (trustedProxies.length === 0) return ofConnection;
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return (request) => proxyAddr.all(request, isTrusted).at(-1) ?? '';
}

/** Remembers the address of the client of an upgrade request. */
export function rememberAddress(upgrade: IncomingMessage, address: string): void {
  addresses.set(upgrade, address);
}

/** Where an upgrade request comes from; to another server than that of the application, who has connected. */
export const upgradeAddress: AddressOf = (upgrade) => addresses.get(upgrade) ?? ofConnection(upgrade);
