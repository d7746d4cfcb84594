import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** `npm run build` writes this file next to the built migrations. */
export const CHECKSUMS_FILE = 'checksums.json';

/** A migration, or its SQL for one of the databases, such as `1763700000002-post-totals.sqlite.ts`. */
const SOURCE = /^(\d+)-[\w-]+(\.\w+)?\.ts$/;

/**
 * Returns a checksum of the source of each migration in a folder, by timestamp. Neither comments on their own lines
 * nor white space affect it. This file imports no other file of the project, so that the build can use it.
 */
export function checksumsOfSources(folder: URL): Record<string, string> {
  const sources = readdirSync(folder).filter((name) => SOURCE.test(name));
  const byTimestamp = Object.groupBy(sources.toSorted(), (name) => SOURCE.exec(name)![1]!);
  return Object.fromEntries(
    Object.entries(byTimestamp).map(([timestamp, files]) => {
      const texts = files!.map((file) => readFileSync(new URL(file, folder), 'utf8'));
      return [timestamp, createHash('sha256').update(texts.map(withoutComments).join('\n')).digest('hex')];
    }),
  );
}

/** Removes comments on their own lines, and white space. */
const withoutComments = (source: string): string =>
  source
    .replaceAll(/^\s*\/\*\*.*?\*\/$/gms, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/\s+/g, '');

/** The checksums of this folder. Empty after `nest start --watch`, which writes none; then nothing is compared. */
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
