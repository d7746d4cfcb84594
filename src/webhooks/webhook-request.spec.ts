import { createServer } from 'node:http';
import type { LookupAddress } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

/** The responses of the resolver, in turn; the last one repeats. */
let responses: LookupAddress[][] = [];
let asked = 0;
vi.doMock('node:dns/promises', () => ({
  Resolver: class {
    resolve4 = async () => this.of(4, responses[Math.min(asked++, responses.length - 1)]!);
    resolve6 = async () => this.of(6, responses[Math.min(asked - 1, responses.length - 1)]!);
    private of = (family: number, found: LookupAddress[]) =>
      found.filter((each) => each.family === family).map(({ address }) => address);
  },
}));
const { post } = await import('./webhook-request.js');

const PRIVATE = { address: '127.0.0.1', family: 4 };
/** In a network that was returned to IANA and is not routed (3ffe::/16, RFC 3701). */
const PUBLIC = { address: '3ffe::1', family: 6 };

describe('A webhook to a name', () => {
  let requests = 0;
  const receiver = createServer((_, response) => {
    requests++;
    response.end();
  });
  beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => receiver.close(resolve)));

  const attempt = (...found: LookupAddress[][]): Promise<unknown> => {
    [responses, asked, requests] = [found, 0, 0];
    const { port } = receiver.address() as AddressInfo;
    return post(new URL(`http://receiver.example.com:${port}/`), Buffer.from('{}'), {}, false).catch(
      (error: Error) => error.message,
    );
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
