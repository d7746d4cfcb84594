import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, PrivateAddressError, publicLookup } from './public-address.js';

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '192.0.1.1',
    '172.32.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'localhost',
    '',
  ])('rejects %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('publicLookup', () => {
  const lookup = promisify(publicLookup) as unknown as (
    hostname: string,
    options: object,
  ) => Promise<unknown>;

  it.each([{ all: true }, { all: false }])(
    'rejects a name of a private address, with %j',
    async (options) => {
      await expect(lookup('localhost', options)).rejects.toBeInstanceOf(PrivateAddressError);
    },
  );

  it('reports a name that does not exist', async () => {
    await expect(lookup('does-not-exist.invalid', { all: true })).rejects.toMatchObject({
      code: expect.stringMatching(/^E(NOTFOUND|AI_AGAIN)$/),
    });
  });
});
