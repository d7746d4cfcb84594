import type { Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startDns } from '../../test/support/dns-server.js';
import { publicLookup } from './public-address.js';
import { post } from './webhook-request.js';

/** The addresses of the name, for each time that it is looked up; the last ones repeat. */
let responses: string[][] = [];
let asked = 0;
let dns: Socket;
const resolver = new Resolver();
beforeAll(async () => {
  // Each lookup queries both types; IPv6 is the second.
  dns = await startDns((_, isIpv6) => {
    if (!isIpv6) asked++;
    return responses[Math.max(1, Math.min(asked, responses.length)) - 1];
  });
  resolver.setServers([`127.0.0.1:${dns.address().port}`]);
});
afterAll(() => void dns.close());

const PRIVATE = '127.0.0.1';
/** In a network that was returned to IANA and is not routed (3ffe::/16, RFC 3701). */
const PUBLIC = '3ffe::1';

describe('A webhook to a name', () => {
  let requests = 0;
  const receiver = createServer((_, response) => {
    requests++;
    response.end();
  });
  beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => receiver.close(resolve)));

  const attempt = (...found: string[][]): Promise<unknown> => {
    [responses, asked, requests] = [found, 0, 0];
    const { port } = receiver.address() as AddressInfo;
    const url = new URL(`http://receiver.example.com:${port}/`);
    const lookup = publicLookup(() => resolver);
    return post(url, Buffer.from('{}'), {}, false, lookup).catch((error: Error) => error.message);
  };

  it('connects to the address of the lookup that was checked, and does not look the name up again', async () => {
    const outcome = await attempt([PUBLIC], [PRIVATE]);

    expect(outcome).toEqual(expect.stringMatching(/3ffe::1|no response/));
    expect(asked).toBe(1);
    expect(requests).toBe(0);
  });

  it.each([
    ['a private address', [PRIVATE]],
    ['a private address beside a public one', [PUBLIC, PRIVATE]],
  ])('is rejected when its name resolves to %s', async (_, found) => {
    expect(await attempt(found)).toContain('not public');
    expect(requests).toBe(0);
  });
});
