import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import { Address6 } from 'ip-address';

/** With a port, as some proxies write it: `203.0.113.5:4711`, `[2001:db8::1]:80`. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/;

/** An address in its canonical form (RFC 5952), without a port; IPv4-mapped ones as IPv4. `undefined` for other text. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? [];
  const address = ipv4 ?? ipv6 ?? text;
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const parsed = new Address6(address);
  return (parsed.isMapped4() ? parsed.to4() : parsed).correctForm();
}

/**
 * Makes the addresses of `X-Forwarded-For` canonical. Each proxy appends the address that it got the request from: one
 * that is none, such as `unknown`, counts as the proxy that sent it, and what stands before it may be forged.
 */
export function canonizeForwardedFor({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const header = headers['x-forwarded-for'];
  if (typeof header !== 'string') return;
  const entries = header.split(',').map((entry) => canonicalAddress(entry.trim()));
  headers['x-forwarded-for'] = entries.slice(entries.lastIndexOf(undefined) + 1).join(', ');
}
