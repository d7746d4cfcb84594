import { readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

type Extract = (code: string, path: string) => Iterable<string>;

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Helpers that start code of the build, by the folder or file of `src` that they start. */
const STARTED: Record<string, readonly string[]> = {
  'test/support/command.ts': readdirSync(`${SRC}commands`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('support/'))
    .map((name) => `commands/${name}`),
  'test/support/service.ts': ['main.ts'],
};

/** Lists what a file imports and starts, by which `--watch` and `--findRelatedTests` find the tests of a change. */
export function extract(code: string, path: string, defaultExtract: Extract): Set<string> {
  const dependencies = new Set(defaultExtract(code, path));
  const helper = Object.keys(STARTED).find((name) => path.endsWith(`/${name}`));
  if (helper === undefined) return dependencies;
  const prefix = relative(path.slice(0, path.lastIndexOf('/')), SRC);
  for (const file of STARTED[helper]!) dependencies.add(`${prefix}/${file.replace(/ts$/, 'js')}`);
  return dependencies;
}
