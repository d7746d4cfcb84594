import { isUtf8 } from 'node:buffer';

/** Deeper structures are rejected: they would overflow the stack of recursive code (JSON.stringify, a database). */
export const MAX_DEPTH = 1000;

/** Validating and converting more members and elements would delay other requests. */
export const MAX_ITEMS = 10_000;

/** A text that is worth parsing. */
export interface ScannedJson {
  readonly text: string;
  /** How many names of members it has. */
  readonly names: number;
  /** How many members and array elements it has in all. */
  readonly items: number;
}

/**
 * Checks the size of JSON before anything is made of it: it is UTF-8, and has at most {@link MAX_DEPTH} levels.
 *
 * @param maxItems how many members and array elements it may have in all
 * @throws SyntaxError whose message completes "The body …".
 */
export function scanIJson(bytes: Buffer, maxItems = MAX_ITEMS): ScannedJson {
  if (!isUtf8(bytes)) throw new SyntaxError('is not UTF-8');
  const text = bytes.toString();
  return { text, ...measure(text, maxItems) };
}

/**
 * Parses I-JSON (RFC 7493): no byte order mark, and no object with a repeated member name. It also rejects members
 * named `__proto__`.
 *
 * @throws SyntaxError whose message completes "The body …".
 */
export function parseIJson({ text, names }: ScannedJson): unknown {
  const value = parse(text);
  if (countMembers(value) !== names) throw new SyntaxError('names a member twice');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(text.trim() === '' ? 'is empty' : 'is not JSON');
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Counts names (one colon each, outside of strings) and items of a text that may not be JSON. */
function measure(text: string, maxItems: number): Omit<ScannedJson, 'text'> {
  let [names, items, level] = [0, 0, 0];
  // Whether nothing has followed the last opening bracket: one that is not empty has one item more than commas.
  let isOpened = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char <= SPACE) continue;
    const isClosing = char === CLOSE_OBJECT || char === CLOSE_ARRAY;
    if (isOpened && !isClosing) items++;
    isOpened = char === OPEN_OBJECT || char === OPEN_ARRAY;
    if (isOpened) level++;
    else if (isClosing) level--;
    else if (char === COMMA) items++;
    else if (char === COLON) names++;
    else if (char === QUOTE) i = endOfString(text, i);
    if (level > MAX_DEPTH) throw new SyntaxError(`is nested more than ${MAX_DEPTH} levels deep`);
    if (items > maxItems) throw new SyntaxError(`has more than ${maxItems} members and array elements`);
  }
  return { names, items };
}

function endOfString(text: string, start: number): number {
  let end = start;
  let escapes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
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
  // Twice as fast as `Object.entries`. What JSON.parse returns inherits no member that is enumerable.
  for (const name in value) {
    if (name === '__proto__') throw new SyntaxError('names a member "__proto__"');
    count += 1 + countMembers((value as Record<string, unknown>)[name]);
  }
  return count;
}
