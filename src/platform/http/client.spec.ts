import { describe, expect, it } from '@jest/globals';
import { networkOf, siteOf } from './client.js';

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::'],
    ['2001:db8::5:6', '2001:db8::'],
    ['::1', '::'],
    ['1:2::4:5:6:7:8', '1:2:0:4::'],
    ['fe80::1%eth0', 'fe80::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::'],
    ['', ''],
  ])('maps %s to %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('siteOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['', ''],
  ])('maps %s to %s', (address, site) => {
    expect(siteOf(address)).toBe(site);
  });
});
