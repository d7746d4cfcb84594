import { promisify } from 'node:util';
import { constants, deflateRawSync, inflateRaw } from 'node:zlib';

/** Shorter texts are stored unchanged: compression takes longer than it saves. */
const MIN_LENGTH = 1024;

const expandBytes = promisify(inflateRaw);

/** A text in its stored form. */
export interface StoredText {
  readonly text: string;
  /** The encoding; null for unchanged text. */
  readonly encoding: 'deflate' | null;
}

/**
 * Compresses a text (DEFLATE, RFC 1951, in base64), if the result is shorter, or if the text has a NUL, which PostgreSQL
 * does not store. Synchronous, because a transaction is open meanwhile.
 */
export function compress(text: string): StoredText {
  const hasNul = text.includes('\0');
  if (hasNul || text.length >= MIN_LENGTH) {
    const bytes = deflateRawSync(text, { level: constants.Z_BEST_SPEED });
    const compressed = bytes.toString('base64');
    if (hasNul || compressed.length < Buffer.byteLength(text))
      return { text: compressed, encoding: 'deflate' };
  }
  return { text, encoding: null };
}

/** The original text of {@link compress}. */
export async function expand({ text, encoding }: StoredText): Promise<string> {
  return encoding === null ? text : (await expandBytes(Buffer.from(text, 'base64'))).toString();
}
