import { isUtf8 } from 'node:buffer';

/** Deeper structures are rejected: they would overflow the stack of recursive code (JSON.stringify, a database). */
export const MAX_DEPTH = 1000;

/**
 * Parses I-JSON (RFC 7493): UTF-8 without a byte order mark, and no object with a repeated member name.
 * It also rejects more than {@link MAX_DEPTH} levels, and members named `__proto__`.
 *
 * @throws SyntaxError whose message completes "The body …".
 */
export function parseIJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError('is not UTF-8');
  const text = bytes.toString();
  const value = parse(text);
  const { members, depth } = measure(text);
  if (depth > MAX_DEPTH) throw new SyntaxError(`is nested more than ${MAX_DEPTH} levels deep`);
  if (countMembers(value) !== members) throw new SyntaxError('names a member twice');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(text.trim() === '' ? 'is empty' : 'is not JSON');
  }
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Counts the members (one colon each, outside of strings) and levels of valid JSON. */
function measure(text: string): { members: number; depth: number } {
  let members = 0;
  let level = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) i = endOfString(text, i);
    else if (char === COLON) members++;
    else if (char === OPEN_OBJECT || char === OPEN_ARRAY) depth = Math.max(depth, ++level);
    else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) level--;
  }
  return { members, depth };
}

function endOfString(text: string, start: number): number {
  let end = start;
  let escapes: number;
  do {
    end = text.indexOf('"', end + 1);
    escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
  } while (escapes % 2 === 1);
  return end;
}

/** Counts the members after JSON.parse, which keeps only the last of several with one name. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countMembers(item), 0);
  let count = 0;
  for (const [name, item] of Object.entries(value)) {
    if (name === '__proto__') throw new SyntaxError('names a member "__proto__"');
    count += 1 + countMembers(item);
  }
  return count;
}
