import { AppError } from '../../http/errors/errors.js';
import { loadLarge } from '../../http/event-loop.js';
import { Operation } from './operation.js';
import { RequestLoader } from './request-loader.js';

/** What one statement loads of an operation's texts, in bytes. */
const PART = 1024 * 1024;

/** What is loaded at once, in bytes; more is loaded after all other such work. */
const SMALL = 256 * 1024;

export interface UnloadedText {
  readonly id: number;
  readonly bytes: number;
}

/**
 * Loads the large texts that the fields of an operation select. All loaders count together, also a text that is
 * selected more than once: more than 16 MiB are rejected before they are loaded, and memory is reserved for less. What JSON
 * adds to a text, such as `\\u0001` for one byte, is known and counted only afterwards.
 */
export class TextLoader {
  private readonly texts = new RequestLoader<UnloadedText, string, number>(
    (wanted: readonly UnloadedText[], context) => this.loadBatch(wanted, context),
    ({ id }) => id,
  );

  /**
   * @param textsOf loads the texts of rows, by their ids
   * @param name of the object, for the error when its row was deleted meanwhile
   */
  constructor(
    private readonly textsOf: (ids: readonly number[]) => Promise<ReadonlyMap<number, string>>,
    private readonly name: string,
  ) {}

  /**
   * @throws AppError `QUERY_TOO_COMPLEX`; `SERVICE_UNAVAILABLE` if other operations use the memory; or `NOT_FOUND` when
   * the row was deleted meanwhile
   */
  async load(context: object, text: UnloadedText): Promise<string> {
    const operation = Operation.of(context);
    operation.selectText(text.bytes);
    const content = await this.texts.load(context, text);
    await count(operation, escapesIn(content));
    return content;
  }

  /**
   * Counts a text that was read or written as a whole by a mutation, many of which may be in one operation.
   *
   * @throws AppError `QUERY_TOO_COMPLEX`; `SERVICE_UNAVAILABLE` if other operations use the memory
   */
  async countLoaded(context: object, text: string): Promise<void> {
    await count(Operation.of(context), Buffer.byteLength(text) + escapesIn(text));
  }

  /** Only after the size of all texts is known; one error for all of them, since one for each would take long. */
  private async loadBatch(wanted: readonly UnloadedText[], context: object): Promise<(string | AppError)[]> {
    const operation = Operation.of(context);
    // Nobody gets these texts, and nobody would free their memory.
    if (operation.hasEnded) throw new AppError('SERVICE_UNAVAILABLE', 'The response was already complete');
    await operation.reserveText();
    const texts = new Map<number, string>();
    for (const part of inParts(wanted)) {
      const load = () => this.textsOf(part.map(({ id }) => id));
      const loaded = await (bytesOf(part) <= SMALL ? load() : loadLarge(load));
      for (const [id, text] of loaded) texts.set(id, text);
    }
    return wanted.map(({ id }) => texts.get(id) ?? new AppError('NOT_FOUND', `${this.name} not found`));
  }
}

const bytesOf = (texts: readonly UnloadedText[]): number => texts.reduce((sum, { bytes }) => sum + bytes, 0);

/** Texts by the statements that load them: reading and converting many megabytes at once would block the event loop. */
function inParts(texts: readonly UnloadedText[]): UnloadedText[][] {
  const parts: UnloadedText[][] = [];
  let bytes = Infinity;
  for (const text of texts) {
    if (bytes + text.bytes > PART) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(text);
    bytes += text.bytes;
  }
  return parts;
}

async function count(operation: Operation, bytes: number): Promise<void> {
  if (bytes === 0) return;
  operation.selectText(bytes);
  await operation.reserveText();
}

/** What JSON adds to a text: one byte for `\\n` and the like, five for another control character (RFC 8259, section 7). */
function escapesIn(text: string): number {
  let bytes = 0;
  for (let n = 0; n < text.length; n++) {
    const char = text.charCodeAt(n);
    if (char === 0x22 || char === 0x5c) bytes += 1;
    else if (char < 0x20) bytes += SHORT.has(char) ? 1 : 5;
  }
  return bytes;
}

const SHORT = new Set(Array.from('\b\t\n\f\r', (char) => char.charCodeAt(0)));
