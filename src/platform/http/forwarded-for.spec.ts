import { describe, expect, it } from '@jest/globals';
import { canonicalAddress, canonizeForwardedFor } from './forwarded-for.js';

describe('canonicalAddress', () => {
  it.each([
    ['203.0.113.5', '203.0.113.5'],
    ['203.0.113.5:4711', '203.0.113.5'],
    ['[2001:db8::1]:80', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:0DB8:0::0:1', '2001:db8::1'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
    ['::FFFF:cb00:7105', '203.0.113.5'],
    ['[::ffff:203.0.113.5]:80', '203.0.113.5'],
    ['fe80::1%eth0', 'fe80::1'],
    ['', undefined],
    ['unknown', undefined],
    ['_hidden:80', undefined],
    ['203.0.113.5:', undefined],
    ['203.0.113.500', undefined],
    ['203.0.113.5:4711:1', undefined],
    ['[203.0.113.5', undefined],
  ])('of %j is %j', (text, address) => {
    expect(canonicalAddress(text)).toBe(address);
  });
});

describe('canonizeForwardedFor', () => {
  it.each([
    ['203.0.113.5:4711, [2001:DB8::1]:80', '203.0.113.5, 2001:db8::1'],
    ['198.51.100.1, unknown, 203.0.113.5', '203.0.113.5'],
    ['198.51.100.1, unknown', ''],
    ['198.51.100.1,,203.0.113.5', '203.0.113.5'],
  ])('turns %j into %j', (sent, read) => {
    const headers: Record<string, string> = { 'x-forwarded-for': sent };
    canonizeForwardedFor({ headers });
    expect(headers['x-forwarded-for']).toBe(read);
  });
});
