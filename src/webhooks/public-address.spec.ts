import type { Socket } from 'node:dgram';
import { lookup as lookupInThread, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startDns } from '../../test/support/dns-server.js';
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

const ADDRESSES: Record<string, string[]> = {
  'public.example': ['93.184.215.14'],
  'private.example': ['10.1.2.3'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
};

describe('publicLookup', () => {
  let server: Socket;
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  const lookup = promisify(publicLookup(() => resolver)) as unknown as (
    hostname: string,
    options: object,
  ) => Promise<unknown>;
  beforeAll(async () => {
    server = await startDns((name) => (name === 'silent.example' ? undefined : (ADDRESSES[name] ?? null)));
    resolver.setServers([`127.0.0.1:${server.address().port}`]);
  });
  afterAll(() => void server.close());

  it('finds public addresses', async () => {
    const found = [{ address: '93.184.215.14', family: 4 }];
    expect(await lookup('public.example', { all: true })).toEqual(found);
    expect(await lookup('public.example', { all: false })).toBe('93.184.215.14');
  });

  it.each(['localhost', 'LOCALHOST', 'any.localhost.', 'private.example', 'mixed.example'])(
    'rejects %s, which has a private address',
    async (name) => {
      await expect(lookup(name, { all: true })).rejects.toBeInstanceOf(PrivateAddressError);
    },
  );

  it('reports a name that does not exist, and a server that does not respond', async () => {
    await expect(lookup('unknown.example', { all: true })).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(lookup('silent.example', { all: true })).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('does not block the threads of Node.js while a DNS server does not respond', async () => {
    const patient = new Resolver({ timeout: 60_000, tries: 1 });
    patient.setServers(resolver.getServers());
    const silent = promisify(publicLookup(() => patient)) as unknown as typeof lookup;
    const lookups = Array.from({ length: 32 }, () => silent('silent.example', { all: true }));
    const outcomes = Promise.allSettled(lookups);

    await readFile(new URL(import.meta.url));
    await lookupInThread('localhost');

    patient.cancel();
    expect(await outcomes).toEqual(
      lookups.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'ECANCELLED' }) })),
    );
  });
});
