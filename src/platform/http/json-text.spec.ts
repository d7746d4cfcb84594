import { describe, expect, it } from '@jest/globals';
import { JsonText, stringify } from './json-text.js';

describe('stringify', () => {
  it('writes the same as JSON.stringify for values without a JsonText', () => {
    const value = { text: '"\\/"', list: [1, null, undefined], nothing: undefined, date: new Date(0) };

    expect(stringify(value)).toBe(JSON.stringify(value));
  });

  it('writes each JsonText verbatim, in its place', () => {
    const one = new JsonText('{"2": 1e400, "1": 0.10}');
    const two = new JsonText(String.raw`["\/", "\\/"]`);

    expect(stringify({ one, odd: ['"\\/"', '\\/', '\\"/'], list: [two, one] })).toBe(
      String.raw`{"one":{"2": 1e400, "1": 0.10},"odd":["\"\\/\"","\\/","\\\"/"],"list":[["\/", "\\/"],{"2": 1e400, "1": 0.10}]}`,
    );
  });
});
