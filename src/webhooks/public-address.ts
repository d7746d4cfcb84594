import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

// The registries of IANA: IPv4 and IPv6 Special-Purpose Addresses (RFC 6890), and multicast.
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/** Of global unicast: protocol assignments (with Teredo), documentation, 6to4, AS112. */
const SPECIAL_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const;

const special = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) special.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of SPECIAL_IPV6) special.addSubnet(network, bits, 'ipv6');

/** Everything else is special: loopback, private, link-local, IPv4 within IPv6 (mapped, NAT64). */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4');
  // An address with a zone, `fe80::1%eth0`, is link-local.
  return isIP(address) === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

export class PrivateAddressError extends Error {
  constructor() {
    super('The address is not public; loopback, private and other special-purpose addresses are rejected');
  }
}

/** RFC 6761, section 6.3: always the loopback address, which DNS servers may not know. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;

/**
 * Resolves names for connections to the public Internet only. The connection uses the checked address,
 * so a name that resolves to another address later has no effect. Node does not call it for literal addresses.
 *
 * It queries DNS directly: `dns.lookup` would block a thread for each name whose server does not respond, and with it
 * connections to the database and the mail server.
 */
export function publicLookup(newResolver: () => Resolver): LookupFunction {
  const resolve = callbackify((hostname: string) => resolvePublic(newResolver(), hostname));
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error) callback(error, '', 0);
      else if (options.all) callback(null, addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

/**
 * Two attempts for each name server, the second of 4 seconds. With several servers that do not respond, the attempt of a
 * delivery may time out first.
 */
export const createResolver = (): Resolver => new Resolver({ timeout: 2000, tries: 2 });

async function resolvePublic(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  if (LOCALHOST.test(hostname)) throw new PrivateAddressError();
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
  const failure = [ipv4, ipv6].find(({ status }) => status === 'rejected') as
    PromiseRejectedResult | undefined;
  if (addresses.length === 0) throw failure?.reason ?? new Error('The name has no address');
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw new PrivateAddressError();
  return addresses;
}

/** A name may have addresses of one family only. */
const addressesOf = (result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
