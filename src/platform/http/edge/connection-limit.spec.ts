import { describe, expect, it } from '@jest/globals';
import { ConnectionLimit } from './connection-limit.js';

const rejected = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

describe('ConnectionLimit', () => {
  it('allows 50 connections per client, counts an IPv6 /64 as one client, and frees each place once', () => {
    const limit = new ConnectionLimit('tests');
    const places = Array.from({ length: 50 }, (_, n) => limit.enter(`2001:db8:1:1::${n}`));

    expect(() => limit.enter('2001:db8:1:1::ffff')).toThrow(rejected);
    limit.enter('2001:db8:1:2::1');
    places[0]!();
    places[0]!();
    limit.enter('2001:db8:1:1::ffff');
    expect(() => limit.enter('2001:db8:1:1::ffff')).toThrow(rejected);
  });

  it('allows 1,000 connections per process', () => {
    const limit = new ConnectionLimit('tests');
    const places = Array.from({ length: 1000 }, (_, n) => limit.enter(`192.0.${n % 2}.${n % 25}`));

    expect(() => limit.enter('198.51.100.1')).toThrow(rejected);
    places[999]!();
    limit.enter('198.51.100.1');
  });

  it.each([
    ['an IPv4 /24', (n: number) => `192.0.2.${n}`, '192.0.3.1'],
    ['an IPv6 /48', (n: number) => `2001:db8:1:${n}::1`, '2001:db8:2:1::1'],
  ])('allows %s half of the connections', (_, address, other) => {
    const limit = new ConnectionLimit('tests');
    const places = Array.from({ length: 500 }, (__, n) => limit.enter(address(n % 20)));

    expect(() => limit.enter(address(99))).toThrow(rejected);
    limit.enter(other);
    places[0]!();
    limit.enter(address(99));
    expect(() => limit.enter(address(99))).toThrow(rejected);
  });
});
