import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { MAX_DEPTH, parseIJson } from './i-json.js';

const parse = (text: string) => parseIJson(Buffer.from(text));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('parseIJson', () => {
  it('reads any text that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        fc.pre(!JSON.stringify(value).includes('"__proto__"'));
        expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    '{"a":":","b":"{\\"a\\":1}"}',
    '{"a\\\\":1,"a":2}',
    '{"\\"":1,"\\\\\\"":2}',
    '[{"a":1},{"a":1}]',
    '{"a":{"a":{"a":1}}}',
    '{"a":"\\u007b","b":"["}',
  ])('accepts %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each(['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[[{"x":{"b":1,"c":2,"b":3}}]]', '{"":1,"":2}'])(
    'rejects a duplicate member name: %s',
    (text) => {
      expect(() => parse(text)).toThrow('names a member twice');
    },
  );

  it('accepts nesting up to MAX_DEPTH, and rejects one level more', () => {
    expect(() => parse(nested(MAX_DEPTH))).not.toThrow();
    expect(() => parse(nested(MAX_DEPTH + 1))).toThrow('levels deep');
  });

  it.each(['{"__proto__":1}', '[{"a":{"__proto__":{}}}]'])('rejects %s', (text) => {
    expect(() => parse(text)).toThrow('__proto__');
  });
});
