import { AppError, ERRORS } from '../errors/errors.js';
import { parseInt64 } from '../validation/id.js';

/** The cursor of the next page: the last id of this one, in decimal, as standard base64 (RFC 4648, 4). */
export function encodeCursor(lastId: number): string {
  return Buffer.from(String(lastId)).toString('base64');
}

/**
 * The id after which the page starts; an empty or absent cursor is the start of the list.
 *
 * @throws AppError `INVALID_CURSOR` unless the text is exactly what {@link encodeCursor} would write
 * for an id of up to 2^63−1.
 */
export function decodeCursor(cursor: string | undefined): number {
  if (!cursor) return 0;
  const digits = Buffer.from(cursor, 'base64').toString('latin1');
  const id = parseInt64(digits);
  // Node decodes almost any text, so the text must equal its own encoding.
  if (id === undefined || id < 0n || Buffer.from(String(id)).toString('base64') !== cursor) {
    throw new AppError('INVALID_CURSOR', ERRORS.INVALID_CURSOR.message);
  }
  // There are no rows past the safe integers.
  return Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}
