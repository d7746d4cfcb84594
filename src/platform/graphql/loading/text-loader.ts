import { AppError } from '../../http/errors/errors.js';
import { loadLarge } from '../../http/event-loop.js';
import { writeLongTexts } from '../../http/json-text.js';
import { hasEnded, markLarge, releaseMemory, reserveMemory } from './large-operations.js';
import { RequestLoader } from './request-loader.js';

/** 16 MiB: the maximum text in the response of a GraphQL operation, in bytes. */
const LIMIT = 16 * 1024 * 1024;

/** An operation with more text, in bytes, is large. */
const MUCH = 256 * 1024;

/** What one statement loads of an operation's texts, in bytes. */
const PART = 1024 * 1024;

/** The text that an operation has selected, in bytes. */
interface Selection {
  bytes: number;
  /** What its memory was reserved for. */
  reserved: number;
  /** One error for all fields: one for each would take long. */
  failure?: AppError;
}

/** By the contexts of the operations. */
const selections = new WeakMap<object, Selection>();

/** A text that is not loaded yet. */
export interface UnloadedText {
  /** Identifies its row. */
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
   * @param isJson whether the texts are JSON, which the response contains as it is
   */
  constructor(
    private readonly textsOf: (ids: readonly number[]) => Promise<ReadonlyMap<number, string>>,
    private readonly name: string,
    private readonly isJson = false,
  ) {}

  /**
   * @throws AppError `QUERY_TOO_COMPLEX`; `SERVICE_UNAVAILABLE` if other operations use the memory; or `NOT_FOUND` when
   * the row was deleted meanwhile
   */
  load(context: object, text: UnloadedText): Promise<string> {
    selectionOf(context).bytes += text.bytes;
    const loaded = this.texts.load(context, text);
    if (this.isJson) return loaded;
    return loaded.then(async (content) => {
      await count(context, escapesIn(content));
      return content;
    });
  }

  /**
   * Counts a text that was read or written as a whole by a mutation, many of which may be in one operation.
   *
   * @throws AppError `QUERY_TOO_COMPLEX`; `SERVICE_UNAVAILABLE` if other operations use the memory
   */
  async countLoaded(context: object, text: string): Promise<void> {
    await count(context, Buffer.byteLength(text) + (this.isJson ? 0 : escapesIn(text)));
  }

  /** Only after the size of all texts is known; one error for all of them, since one for each would take long. */
  private async loadBatch(wanted: readonly UnloadedText[], context: object): Promise<(string | AppError)[]> {
    // Nobody gets these texts, and nobody would free their memory.
    if (hasEnded(context)) throw new AppError('SERVICE_UNAVAILABLE', 'The response was already complete');
    await reserve(context);
    const texts = new Map<number, string>();
    for (const part of inParts(wanted)) {
      const load = () => this.textsOf(part.map(({ id }) => id));
      const loaded = await (bytesOf(part) <= MUCH ? load() : loadLarge(load));
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

/** Writes the long texts of a result as JSON, one by one, if there are many bytes of them. */
export async function writeTexts(context: object, result: object): Promise<void> {
  if ((selections.get(context)?.bytes ?? 0) > MUCH) await writeLongTexts(result);
}

/**
 * Frees what an operation has used when its response is complete.
 *
 * @param isOver false for one event of a subscription: each may have the maximum
 * @returns why it has got no memory, if it has not
 */
export function endOperation(context: object, { isOver = true } = {}): AppError | undefined {
  selections.delete(context);
  return releaseMemory(context, isOver);
}

function selectionOf(context: object): Selection {
  let selection = selections.get(context);
  if (!selection) selections.set(context, (selection = { bytes: 0, reserved: 0 }));
  return selection;
}

async function count(context: object, bytes: number): Promise<void> {
  if (bytes === 0) return;
  selectionOf(context).bytes += bytes;
  await reserve(context);
}

/** Reserves memory for what has been selected since the last time. */
async function reserve(context: object): Promise<void> {
  const selection = selectionOf(context);
  if (selection.bytes > LIMIT) throw (selection.failure ??= tooMuch());
  if (selection.bytes > MUCH) markLarge(context);
  const bytes = selection.bytes - selection.reserved;
  selection.reserved = selection.bytes;
  await reserveMemory(context, bytes);
}

const tooMuch = (): AppError =>
  new AppError(
    'QUERY_TOO_COMPLEX',
    `The texts of the response take more than ${LIMIT} bytes; ask for fewer objects`,
  );

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
