import { describe, expect, it } from '@jest/globals';
import { emailKey, normalizeEmail } from './email-address.js';

describe('normalizeEmail', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['  Ada@Example.COM\n', 'Ada@example.com'],
    ['ada+tag@EXAMPLE.com', 'ada+tag@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ADA@BÜCHER.example', 'ADA@xn--bcher-kva.example'],
    ['ada@例え.jp', 'ada@xn--r8jz45g.jp'],
  ])('normalizes %j to %j', (text, email) => {
    expect(normalizeEmail(text)).toBe(email);
  });

  it.each([
    '',
    'ada',
    '@example.com',
    'ada@',
    'ada@localhost',
    'ada@example..com',
    'ada@exa mple.com',
    'a da@example.com',
    'ada@example.com, bob@example.com',
    'Ada <ada@example.com>',
    'ada@[127.0.0.1]',
    'a\0@example.com',
    '\ud800@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(300)}.com`,
    'ada@xn--\u0000.com',
  ])('returns undefined for %j', (text) => {
    expect(normalizeEmail(text)).toBeUndefined();
  });
});

describe('emailKey', () => {
  it('ignores letter case and Unicode composition, and accepts text that is not an address', () => {
    expect(emailKey(' ADA@Example.com')).toBe(emailKey('ada@EXAMPLE.com '));
    expect(emailKey('\u00c9t\u00e9@example.com')).toBe(emailKey('e\u0301te\u0301@example.com'));
    expect(emailKey(' Nobody ')).toBe('nobody');
  });

  it.each([
    ['\u03b1\u03c3@example.com', '\u0391\u03a3@example.com'],
    ['\u03b1\u03c2@example.com', '\u0391\u03a3@example.com'],
    ['\u01f0@example.com', 'J\u030c@example.com'],
    ['\u1e96@example.com', 'H\u0331@example.com'],
  ])('is the same for %s and %s', (lower, upper) => {
    expect(emailKey(upper)).toBe(emailKey(lower));
  });
});
