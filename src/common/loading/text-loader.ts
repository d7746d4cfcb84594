import { AppError } from '../errors/errors.js';
import { hasEnded, markLarge, releaseMemory, reserveMemory } from './large-operations.js';
import { RequestLoader } from './request-loader.js';

/** 16 MiB: the maximum text in the response of a GraphQL operation, in bytes. */
const LIMIT = 16 * 1024 * 1024;

/** An operation with more text, in bytes, is large. */
const MUCH = 256 * 1024;

/** The text that an operation has selected, in bytes. */
interface Selection {
  bytes: number;
  /** What its memory was reserved for. */
  reserved: number;
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
 * selected more than once: more than 16 MiB are rejected before they are loaded, and memory is reserved for less.
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
  load(context: object, text: UnloadedText): Promise<string> {
    selectionOf(context).bytes += text.bytes;
    return this.texts.load(context, text);
  }

  /**
   * Counts a text that was read or written as a whole by a mutation, many of which may be in one operation.
   *
   * @throws AppError `QUERY_TOO_COMPLEX`
   */
  countLoaded(context: object, text: string): void {
    const selection = selectionOf(context);
    selection.bytes += Buffer.byteLength(text);
    check(selection);
  }

  /** Only after the size of all texts is known; one error for all of them, since one for each would take long. */
  private async loadBatch(wanted: readonly UnloadedText[], context: object): Promise<(string | AppError)[]> {
    // Nobody gets these texts, and nobody would free their memory.
    if (hasEnded(context)) throw new AppError('SERVICE_UNAVAILABLE', 'The response was already complete');
    const selection = selectionOf(context);
    check(selection);
    if (selection.bytes > MUCH) markLarge(context);
    const bytes = selection.bytes - selection.reserved;
    selection.reserved = selection.bytes;
    await reserveMemory(context, bytes);
    const ids = wanted.map(({ id }) => id);
    const texts = await this.textsOf(ids);
    return ids.map((id) => texts.get(id) ?? new AppError('NOT_FOUND', `${this.name} not found`));
  }
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

function check({ bytes }: Selection): void {
  if (bytes <= LIMIT) return;
  const message = `The texts of the response take more than ${LIMIT} bytes; ask for fewer objects`;
  throw new AppError('QUERY_TOO_COMPLEX', message);
}
