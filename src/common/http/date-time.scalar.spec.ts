import { describe, expect, it } from '@jest/globals';
import { Kind } from 'graphql';
import { DateTimeScalar } from './date-time.scalar.js';

const TEXT = '2026-11-25T09:30:00.000Z';

describe('DateTimeScalar', () => {
  const scalar = new DateTimeScalar();

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

  it('does not serialize an invalid date', () => {
    expect(() => scalar.serialize(new Date(NaN))).toThrow(RangeError);
  });

  it('parses variables and literals with any offset', () => {
    expect(scalar.parseValue(TEXT)).toEqual(new Date(TEXT));
    expect(scalar.parseLiteral({ kind: Kind.STRING, value: '2026-11-25T10:30:00+01:00' })).toEqual(
      new Date(TEXT),
    );
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
    {},
  ])('rejects %j', (value) => {
    expect(() => scalar.parseValue(value)).toThrow('must be text as in RFC 3339');
  });

  it('rejects a literal of another kind', () => {
    expect(() => scalar.parseLiteral({ kind: Kind.INT, value: '5' })).toThrow('must be text as in RFC 3339');
  });
});
