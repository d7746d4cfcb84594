import { describe, expect, it } from '@jest/globals';
import { PartialType } from '@nestjs/mapped-types';
import { IsIn, IsInt, IsOptional, Min, ValidateIf, validateSync } from 'class-validator';
import fc from 'fast-check';
import { checkerOf } from './checker.js';
import { Text } from './text.js';

class Whole {
  @Text({ min: 1, max: 5 })
  text!: string;

  @IsInt()
  @Min(3)
  number!: number;

  @ValidateIf((_, value) => value !== '')
  @IsIn(['a', 'b'])
  choice!: string;
}

class Part extends PartialType(Whole) {
  @IsOptional()
  @Text()
  more?: string | null;
}

class WithEach {
  @IsInt({ each: true })
  numbers!: number[];
}

class WithGroup {
  @IsInt({ groups: ['late'] })
  number!: number;
}

class WithoutRules {
  anything?: unknown;
}

describe('checkerOf', () => {
  const value = fc.oneof(
    fc.constantFrom(
      undefined,
      null,
      '',
      'a',
      'b',
      'c',
      'abcdef',
      '\0',
      '\uD800',
      0,
      3,
      3.5,
      -1,
      true,
      [],
      {},
    ),
    fc.string(),
    fc.integer(),
  );
  const input = fc.record({ text: value, number: value, choice: value, more: value }, { requiredKeys: [] });

  it.each([Whole, Part])('agrees with class-validator on %p', (type) => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(input, (fields) => {
        const object = Object.assign(new type(), fields);
        const isValid = validateSync(object).length === 0;
        seen.add(isValid);
        expect(checkerOf(type)(object)).toBe(isValid);
      }),
      { numRuns: 2000, examples: [[{ text: 'a', number: 3, choice: 'b', more: 'c' }]] },
    );
    expect(seen.size).toBe(2);
  });

  it.each([
    [WithEach, { numbers: [1, 2] }],
    [WithGroup, { number: 1 }],
    [WithoutRules, {}],
  ])('leaves rules of other kinds to class-validator', (type, fields) => {
    expect(checkerOf(type)(Object.assign(new type(), fields))).toBe(false);
  });
});
