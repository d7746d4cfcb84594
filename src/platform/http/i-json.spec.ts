import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_DEPTH, MAX_ITEMS, parseIJson, scanIJson } from './i-json.js';

const parse = (text: string) => parseIJson(scanIJson(Buffer.from(text)));
const scan = (text: string) => scanIJson(Buffer.from(text));
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

  it.each([
    ['', 0],
    ['{ }', 0],
    ['[\n]', 0],
    ['[[]]', 1],
    ['[1, [2, 3]]', 4],
    ['{"a":{"b":[{},""]},"c":null}', 5],
    ['{"a,[{":"]}\\\\","b":"\\","}', 2],
  ])('counts the members and elements of %s: %i', (text, items) => {
    expect(scan(text).items).toBe(items);
  });

  it('accepts MAX_ITEMS members and elements in all, and rejects one more, before the text is parsed', () => {
    const text = (items: number) => `{"a":[${Array.from({ length: items - 1 }, () => '{}').join()}]}`;
    expect(() => parse(text(MAX_ITEMS))).not.toThrow();
    expect(() => scan(text(MAX_ITEMS + 1))).toThrow('more than 10000 members and array elements');
    expect(() => scan('['.repeat(MAX_DEPTH) + ','.repeat(MAX_ITEMS))).toThrow('more than 10000');
  });

  it.each(['"', '"\\', '{"a', '{"a":"\\"', ']', '}{', ',,'])('survives what is not JSON: %s', (text) => {
    expect(() => parse(text)).toThrow('is not JSON');
  });

  it.each(['{"__proto__":1}', '[{"a":{"__proto__":{}}}]'])('rejects %s', (text) => {
    expect(() => parse(text)).toThrow('__proto__');
  });
});
