import { globSync, readFileSync, writeFileSync } from 'node:fs';
import type { Fault } from './plant.ts';

const FILE = 'test/faults.json';

export const readFaults = (): Fault[] => JSON.parse(readFileSync(FILE, 'utf8')) as Fault[];

export const writeFaults = (faults: readonly Fault[]): void =>
  writeFileSync(FILE, `${JSON.stringify(faults, null, 2)}\n`);

/** The sources by their paths. */
export function readSources(): Map<string, string> {
  const files = globSync('src/**/*.ts', { exclude: ['**/*.spec.ts'] });
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

/** The files that contain the text of a fault, once for each time. */
export const filesWith = ({ text }: Fault, sources: ReadonlyMap<string, string>): string[] =>
  [...sources].flatMap(([file, source]) => Array<string>(source.split(text).length - 1).fill(file));
