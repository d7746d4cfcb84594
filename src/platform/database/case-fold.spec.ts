import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { caseFold } from './case-fold.js';

describe('caseFold', () => {
  it.each([
    ['ASCII', 'Hello', 'hELLO'],
    ['umlauts', 'Äpfel', 'ÄPFEL'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['capital sharp s', 'STRAẞE', 'strasse'],
    ['a sigma at the end and within', 'ΌΣΟΣ', 'όσοσ'],
    ['final sigma', 'ς', 'Σ'],
    ['Cyrillic', 'Ёлка', 'ЁЛКА'],
    ['ligatures', 'ﬃ', 'FFI'],
    ['the Kelvin sign', '\u212A', 'k'],
    ['long s', 'ſ', 'S'],
    ['Cherokee', 'Ꭰ', 'ꭰ'],
    ['Deseret, beyond the first plane', '𐐀', '𐐨'],
  ])('folds %s to the same text', (_, a, b) => {
    expect(caseFold(a)).toBe(caseFold(b));
  });

  it.each([
    ['accents', 'e', 'é'],
    ['composed and decomposed', 'é', 'e\u0301'],
    ['width', 'A', 'Ａ'],
  ])('keeps differences other than case: %s', (_, a, b) => {
    expect(caseFold(a)).not.toBe(caseFold(b));
  });

  it('folds a concatenation to the concatenation of the folds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(caseFold(a) + caseFold(b)).toBe(caseFold(a + b));
      }),
    );
    expect(caseFold('ΑΣ') + caseFold('Α')).toBe(caseFold('ΑΣΑ'));
  });
});
