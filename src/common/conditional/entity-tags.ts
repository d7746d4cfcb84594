/**
 * A row with a version, which grows with every write; see `migrations/row-versions.ts`.
 * The time distinguishes rows of two databases that have the same version, such as before and after a restore.
 */
export type Versioned = { readonly version: number } & (
  { readonly updated_at: string } | { readonly updatedAt: Date } | { readonly createdAt: Date }
);

/**
 * The strong entity tag of a representation (RFC 9110, section 8.8.3).
 *
 * @param format distinguishes the representations of one row; empty for JSON
 */
export function entityTag(row: Versioned, format = ''): string {
  return `"${row.version}-${timeOf(row).toString(36)}${format}"`;
}

function timeOf(row: Versioned): number {
  if ('updated_at' in row) return Date.parse(row.updated_at);
  return ('updatedAt' in row ? row.updatedAt : row.createdAt).getTime();
}

/** One element of a list, which may be empty (RFC 9110, section 5.6.1). */
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/gy;

/** The tags of `If-Match` or `If-None-Match`, or `*`; `undefined` for what is not a list of entity tags. */
export function parseTags(header: string): '*' | readonly string[] | undefined {
  if (header.trim() === '*') return '*';
  const elements = [...header.matchAll(ELEMENT)];
  const length = elements.reduce((sum, [element]) => sum + element.length, 0);
  const tags = elements.flatMap(([, tag]) => tag ?? []);
  return length === header.length && tags.length > 0 ? tags : undefined;
}

/** Weak comparison, for `If-None-Match` (RFC 9110, section 13.1.2). A header that is no list matches nothing. */
export function isNoneMatch(header: string, tag: string): boolean {
  // The usual case.
  if (header === tag) return false;
  const tags = parseTags(header);
  return tags !== '*' && !tags?.some((each) => each.replace(/^W\//, '') === tag);
}
