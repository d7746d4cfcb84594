import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

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

/** Everything outside of it is special: loopback, private, link-local, IPv4 within IPv6 (mapped, NAT64). */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is one of the public Internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4');
  // A zone, `fe80::1%eth0`, is of a link.
  return isIP(address) === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** The address is not one of the public Internet. */
export class PrivateAddressError extends Error {
  constructor() {
    super('The address is not public; loopback, private and other special-purpose addresses are rejected');
  }
}

/**
 * A look-up of names for a connection that may only lead to the public Internet. What it finds is what is connected to,
 * so a name that resolves to another address a moment later changes nothing. It is not asked for literal addresses.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, found) => {
    const addresses = error ? [] : found;
    const failure =
      error ??
      (addresses.every(({ address }) => isPublicAddress(address)) ? null : new PrivateAddressError());
    if (failure) callback(failure, '', 0);
    else if (options.all) callback(null, addresses);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  });
};
