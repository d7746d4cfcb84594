import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A test file, how long it takes on SQLite, and the sources that it has reached. */
export interface Reach {
  readonly file: string;
  readonly seconds: number;
  readonly sources: readonly string[];
}

/** It is not committed: it takes some minutes to make, and most of it stays true. */
const RECORD = 'node_modules/.cache/reached.json';

/** @returns what `npm run test:mutants -- --record` has recorded, if it has */
export function readReached(): readonly Reach[] | undefined {
  return existsSync(RECORD) ? (JSON.parse(readFileSync(RECORD, 'utf8')) as Reach[]) : undefined;
}

export function writeReached(reached: readonly Reach[]): void {
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, JSON.stringify(reached));
}

/** The test files that reach a source, those most about it for their time first. */
export function testsOf(source: string, reached: readonly Reach[]): readonly Reach[] {
  const worth = ({ sources, seconds }: Reach) => 1 / sources.length / seconds;
  return reached.filter(({ sources }) => sources.includes(source)).toSorted((a, b) => worth(b) - worth(a));
}

/** Whether the names of a test and of a source, or of its folder, share a word. */
export function isNamedAfter(test: string, source: string): boolean {
  const words = new Set(wordsOf(source));
  return wordsOf(test).some((word) => words.has(word));
}

/** The words of the name of a file and of its folder, without the endings of plurals. */
function wordsOf(file: string): string[] {
  const names = file.split('/').slice(-2);
  return names.flatMap((name) => name.replace(/\..*/, '').split('-')).map((word) => word.replace(/s$/, ''));
}
