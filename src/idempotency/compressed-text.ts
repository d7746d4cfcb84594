import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';

/** Shorter texts are stored unchanged: compression takes longer than it saves. */
const MIN_LENGTH = 1024;

const compressBytes = promisify(deflateRaw);
const expandBytes = promisify(inflateRaw);

/** A text in its stored form. */
export interface StoredText {
  readonly text: string;
  /** The encoding; null for unchanged text. */
  readonly encoding: 'deflate' | null;
}

/** Compresses a text (DEFLATE, RFC 1951, in base64), if the result is shorter. */
export async function compress(text: string): Promise<StoredText> {
  if (text.length >= MIN_LENGTH) {
    const bytes = await compressBytes(text, { level: constants.Z_BEST_SPEED });
    const compressed = bytes.toString('base64');
    if (compressed.length < Buffer.byteLength(text)) return { text: compressed, encoding: 'deflate' };
  }
  return { text, encoding: null };
}

/** The original text of {@link compress}. */
export async function expand({ text, encoding }: StoredText): Promise<string> {
  return encoding === null ? text : (await expandBytes(Buffer.from(text, 'base64'))).toString();
}
