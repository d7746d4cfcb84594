import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from './canonical-json.js';

const canonical = (json: string) => canonicalJson(JSON.parse(json));

describe('canonicalJson', () => {
  it('writes the example of RFC 8785, section 3.2.2', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;

    expect(canonical(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts members by UTF-16 code units, as in RFC 8785, section 3.2.3', () => {
    const sample = String.raw`{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }`;

    expect(Object.values(JSON.parse(`[${canonical(sample).slice(1, -1).replaceAll('":"', '","')}]`))).toEqual(
      [
        ['\r', 'Carriage Return', '1', 'One', '\u0080', 'Control'],
        ['\u00f6', 'Latin Small Letter O With Diaeresis', '\u20ac', 'Euro Sign'],
        ['\ud83d\ude00', 'Emoji: Grinning Face', '\ufb33', 'Hebrew Letter Dalet With Dagesh'],
      ].flat(),
    );
  });

  // RFC 8785, appendix B
  it.each([
    ['-0', '0'],
    ['5e-324', '5e-324'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['9007199254740992', '9007199254740992'],
    ['295147905179352830000', '295147905179352830000'],
    ['1e21', '1e+21'],
    ['999999999999999900000', '999999999999999900000'],
    ['9.999999999999997e22', '9.999999999999997e+22'],
    ['0.000001', '0.000001'],
    ['0.0000001', '1e-7'],
    ['333333333.3333332', '333333333.3333332'],
    ['1424953923781206.2', '1424953923781206.2'],
  ])('writes the number %s as %s', (sent, written) => {
    expect(canonical(sent)).toBe(written);
  });

  it.each([
    ['an infinite number and null', '{"a":1e400}', '{"a":null}'],
    ['an infinite number and its negative', '[1e400]', '[-1e400]'],
    ['a number and its text', '[1]', '["1"]'],
    ['an empty array and an empty object', '[]', '{}'],
    ['two lone surrogates', '"\\ud800"', '"\\ud801"'],
    ['composed and decomposed letters', '"\\u00e9"', '"e\\u0301"'],
    ['a list in another order', '[1,2]', '[2,1]'],
  ])('distinguishes %s', (_, one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });

  it('supports the maximum nesting of a body', () => {
    const deep = `${'{"a":['.repeat(500)}${']}'.repeat(500)}`;

    expect(canonical(deep)).toBe(deep);
  });
});
