import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What `npm run build` writes beside the built migrations. */
export const CHECKSUMS_FILE = 'checksums.json';

/** A migration, and the files beside it for one of the databases: `1763700000002-post-totals.sqlite.ts`. */
const SOURCE = /^(\d+)-[\w-]+(\.\w+)?\.ts$/;

/**
 * A checksum of the source of each migration of a folder, by its timestamp. Comments and white space do not count, and
 * neither does the compiler. It imports nothing of ours, so that the build can use it.
 */
export function checksumsOfSources(folder: URL): Record<string, string> {
  const sources = readdirSync(folder).filter((name) => SOURCE.test(name));
  const byTimestamp = Object.groupBy(sources.toSorted(), (name) => SOURCE.exec(name)![1]!);
  return Object.fromEntries(
    Object.entries(byTimestamp).map(([timestamp, files]) => {
      const texts = files!.map((file) => readFileSync(new URL(file, folder), 'utf8'));
      return [timestamp, createHash('sha256').update(texts.map(essence).join('\n')).digest('hex')];
    }),
  );
}

/** Without comments that have lines of their own, and without white space. */
const essence = (source: string): string =>
  source
    .replaceAll(/^\s*\/\*\*.*?\*\/$/gms, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/\s+/g, '');

/** Of the migrations of this folder; empty where `nest start --watch` has built it, which compares nothing. */
function readChecksums(): Record<string, string> {
  const folder = new URL('.', import.meta.url);
  const file = new URL(CHECKSUMS_FILE, folder);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return checksumsOfSources(folder);
}

let checksums: Record<string, string> | undefined;

/** @param name the class of a migration, which ends with its timestamp */
export function checksumOf(name: string): string | undefined {
  checksums ??= readChecksums();
  return checksums[/\d+$/.exec(name)?.[0] ?? ''];
}
