import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { filesWith, readFaults, readSources } from './faults.ts';
import { placeOf } from './plant.ts';

/** How many faults may be such that nobody can notice them. */
const EQUIVALENTS = 10;

describe('faults.json', () => {
  const faults = readFaults();
  const sources = readSources();

  it('has faults whose text occurs once in the sources: after a rename or a move, repair it here', () => {
    const wrong = faults.filter((fault) => filesWith(fault, sources).length !== 1);
    expect(wrong.map(({ text }) => text)).toEqual([]);
  });

  it('has faults that can be planted', () => {
    for (const [number, fault] of faults.entries()) {
      const [file] = filesWith(fault, sources);
      expect(() => placeOf(sources.get(file!)!, fault, number)).not.toThrow();
    }
  });

  it('names for each fault the promise that it breaks, and test files that exist', () => {
    expect(faults.filter(({ breaks }) => !/^§\d+ [^]+[^.]$/.test(breaks))).toEqual([]);
    const isNoticed = ({ noticedBy, equivalent }: (typeof faults)[number]) =>
      equivalent !== undefined || (noticedBy !== undefined && existsSync(noticedBy));
    expect(faults.filter((fault) => !isNoticed(fault))).toEqual([]);
    expect(faults.filter(({ equivalent }) => equivalent !== undefined).length).toBeLessThanOrEqual(
      EQUIVALENTS,
    );
  });
});
