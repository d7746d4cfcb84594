/**
 * Canonical JSON (RFC 8785): no whitespace, members in the order of their UTF-16 code units, numbers
 * and strings as ECMAScript writes them. The service accepts two things that the RFC rejects; each
 * has its own form here: lone surrogates, and numbers beyond the range of a double.
 *
 * @param value of JSON.parse, not nested too deeply for recursion
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  // JSON.stringify would write `null` for an infinite number.
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
