import { AppError } from '../errors/errors.js';
import { isStorable } from '../validation/text.js';

/** The values by which a list is sorted, of one row; the last one is its id, so that no two rows have the same. */
export type Position = readonly (string | number)[];

/** Checks a value of a position that a client has sent. */
const KINDS = {
  id: (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0,
  integer: (value: unknown) => Number.isSafeInteger(value),
  text: (value: unknown) => typeof value === 'string' && isStorable(value),
  time: (value: unknown) => typeof value === 'string' && isTime(value),
};

/** An order of a list for keyset pagination: the page after a row is found by the row's position, in any index order. */
export interface Keyset<Row> {
  /** Identifies the order: the cursor of another order is invalid. */
  readonly name: string;
  /** The kinds of the values of a position. */
  readonly kinds: readonly (keyof typeof KINDS)[];
  readonly positionOf: (row: Row) => Position;
}

/** The rows to read for a page. */
export interface KeysetRequest {
  /** The position of the last row before the page; `undefined` for the first page. */
  readonly after: Position | undefined;
  /** One more than the page: the last one shows that there is a next page. */
  readonly limit: number;
}

/** In UTF-16 units: no row has a longer position. */
const MAX_LENGTH = 16 * 1024;

/** The cursor of a row: the name of the order and the row's position, as JSON in base64url (RFC 4648, 5). */
export function encodePosition<Row>({ name, positionOf }: Keyset<Row>, row: Row): string {
  return encode([name, ...positionOf(row)]);
}

/**
 * The position in a cursor.
 *
 * @throws AppError `INVALID_CURSOR` unless {@link encodePosition} can write the cursor for the same order
 */
export function decodePosition<Row>({ name, kinds }: Keyset<Row>, cursor: string): Position {
  const parts = cursor.length > MAX_LENGTH ? undefined : decode(cursor);
  if (!Array.isArray(parts) || encode(parts) !== cursor) throw invalid('The cursor is invalid');
  const [order, ...position] = parts as unknown[];
  if (order !== name) throw invalid('The cursor is of another order');
  const isPosition =
    position.length === kinds.length && kinds.every((kind, index) => KINDS[kind](position[index]));
  if (!isPosition) throw invalid('The cursor is invalid');
  return position as unknown as Position;
}

/** The parameters of a position in the SQL of `Dialect.rangesAfter`. @public for modules that teams add */
export const positionParameters = (position: Position): Readonly<Record<string, string | number>> =>
  Object.fromEntries(position.map((value, index) => [`after${index}`, value]));

const encode = (parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** A time of the years that both databases know, as it is written in responses. */
function isTime(text: string): boolean {
  const time = new Date(text);
  return /^(?!0000)\d{4}-/.test(text) && !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

const invalid = (what: string) =>
  new AppError('INVALID_CURSOR', `${what}; send a cursor of this list unchanged, with the same orderBy`);
