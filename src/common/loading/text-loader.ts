import { AppError } from '../errors/errors.js';
import { loadLarge, shareEventLoop } from './event-loop.js';
import { RequestLoader } from './request-loader.js';

/** 16 MiB: the maximum text in the response of a GraphQL operation, in bytes. */
const LIMIT = 16 * 1024 * 1024;

/** Longer texts, in bytes, are loaded one operation after the other. */
const MUCH = 256 * 1024;

/** The bytes of text that an operation has selected, by its context. */
const selected = new WeakMap<object, number>();

/** A text that is not loaded yet. */
export interface UnloadedText {
  /** Identifies its row. */
  readonly id: number;
  readonly bytes: number;
}

/**
 * Loads the large texts that the fields of an operation select. All loaders count together, also a text that is
 * selected more than once: more than 16 MiB are rejected before they are loaded.
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

  /** @throws AppError `QUERY_TOO_COMPLEX`, or `NOT_FOUND` when the row was deleted meanwhile */
  load(context: object, text: UnloadedText): Promise<string> {
    count(context, text.bytes);
    return this.texts.load(context, text);
  }

  /**
   * Counts a text that was read or written as a whole by a mutation, many of which may be in one operation.
   *
   * @throws AppError `QUERY_TOO_COMPLEX`
   */
  countLoaded(context: object, text: string): void {
    count(context, Buffer.byteLength(text));
    check(context);
  }

  /** Only after the size of all texts is known; one error for all of them, since one for each would take long. */
  private async loadBatch(wanted: readonly UnloadedText[], context: object): Promise<(string | AppError)[]> {
    check(context);
    const ids = wanted.map(({ id }) => id);
    const isMuch = wanted.reduce((sum, { bytes }) => sum + bytes, 0) > MUCH;
    if (isMuch) shareEventLoop(context);
    const texts = await (isMuch ? loadLarge(() => this.textsOf(ids)) : this.textsOf(ids));
    return ids.map((id) => texts.get(id) ?? new AppError('NOT_FOUND', `${this.name} not found`));
  }
}

function count(context: object, bytes: number): void {
  selected.set(context, (selected.get(context) ?? 0) + bytes);
}

function check(context: object): void {
  if ((selected.get(context) ?? 0) <= LIMIT) return;
  const message = `The texts of the response take more than ${LIMIT} bytes; ask for fewer objects`;
  throw new AppError('QUERY_TOO_COMPLEX', message);
}
