/**
 * JSON in its canonical form (RFC 8785): no blanks, members in the order of their UTF-16 code units, numbers
 * and strings as ECMAScript writes them. Our reader lets two things through that the RFC rejects, and each
 * keeps a form of its own here: lone surrogates, and numbers past the range of a double.
 *
 * @param value as JSON.parse gives it, and no deeper than a recursion may go
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  // JSON.stringify would make `null` of an infinite number.
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
