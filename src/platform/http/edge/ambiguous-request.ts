import type { IncomingMessage } from 'node:http';

/** The messages for clients. */
export const AMBIGUOUS = {
  version: 'The HTTP version must be 1.0 or 1.1',
  noHost: 'The Host header is missing',
  twoHosts: 'The Host header must appear once',
  badHost: 'The Host header must be a host, with or without a port',
  oldCoding: 'HTTP/1.0 has no Transfer-Encoding',
  coding: 'The Transfer-Encoding must be chunked',
} as const;

/**
 * What is ambiguous about a request that Node accepts: a proxy in front might have parsed it
 * differently, which enables request smuggling (RFC 9112, section 11.2).
 *
 * @returns a sentence for the client
 */
export function ambiguityOf({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return AMBIGUOUS.version;
  // RFC 9112, section 3.2: HTTP/1.1 requires one, HTTP/1.0 does not.
  if (headers.host === undefined && httpVersion === '1.1') return AMBIGUOUS.noHost;
  if (namesHostTwice(rawHeaders)) return AMBIGUOUS.twoHosts;
  // The value is empty if the target has no authority (RFC 9110, section 7.2).
  if (headers.host && !isHost(headers.host)) return AMBIGUOUS.badHost;
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') return AMBIGUOUS.oldCoding;
  return coding.toLowerCase() === 'chunked' ? undefined : AMBIGUOUS.coding;
}

/** The characters of `uri-host [ ":" port ]` (RFC 9110, section 7.2). */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]+$/;

const isHost = (value: string): boolean => HOST.test(value) && URL.canParse(`http://${value}`);

/** Node keeps only the first of several. */
function namesHostTwice(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count > 1;
}
