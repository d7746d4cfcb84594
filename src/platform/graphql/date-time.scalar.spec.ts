import { describe, expect, it } from '@jest/globals';
import { type DiscoveryService, Reflector } from '@nestjs/core';
import { Kind } from 'graphql';
import { DateTimeScalar } from './date-time.scalar.js';

const TEXT = '2026-11-25T09:30:00.000Z';

describe('DateTimeScalar', () => {
  const scalar = new DateTimeScalar(
    { getProviders: () => [] } as unknown as DiscoveryService,
    new Reflector(),
  );

  it('serializes dates, and the text of views unchanged', () => {
    expect(scalar.serialize(new Date(TEXT))).toBe(TEXT);
    expect(scalar.serialize(TEXT)).toBe(TEXT);
  });

  it.each([0, null, 'secret', '2026-11-25', '2026-11-25T10:30:00+01:00'])(
    'does not serialize %j',
    (value) => {
      expect(() => scalar.serialize(value)).toThrow('A DateTime must be a Date, or text such as');
    },
  );

  it('does not serialize an invalid date, or one after the year 9999', () => {
    expect(() => scalar.serialize(new Date(NaN))).toThrow(RangeError);
    expect(() => scalar.serialize(new Date('+010000-01-01T00:00:00Z'))).toThrow('A DateTime must be a Date');
  });

  it.each([TEXT, '2026-11-25T10:30:00+01:00', '2026-11-25t09:30:00z', '2026-11-25 09:30:00.000000Z'])(
    'parses %s',
    (value) => {
      expect(scalar.parseValue(value)).toEqual(new Date(TEXT));
      expect(scalar.parseLiteral({ kind: Kind.STRING, value })).toEqual(new Date(TEXT));
    },
  );

  it('parses the first year', () => {
    expect(scalar.parseValue('0001-01-01T00:00:00Z').getUTCFullYear()).toBe(1);
  });

  it.each([
    undefined,
    null,
    5,
    '',
    '2026-11-25',
    'tomorrow',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-11-25T23:59:60Z',
    '9999-12-31T23:00:00-12:00',
    '0000-01-01T00:00:00+12:00',
    {},
  ])('rejects %j', (value) => {
    expect(() => scalar.parseValue(value)).toThrow('must be text as in RFC 3339');
  });

  it('rejects a literal of another kind', () => {
    expect(() => scalar.parseLiteral({ kind: Kind.INT, value: '5' })).toThrow('must be text as in RFC 3339');
  });
});
