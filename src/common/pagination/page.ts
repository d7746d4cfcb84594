import type { JsonText } from '../http/json-text.js';

/** What a page says of the whole list. */
export interface PageMeta {
  /** Matches when filtered, all rows otherwise. */
  readonly total: number;
  /** As asked for; past 2^53 as text, because a number would be rounded. */
  readonly page: number | JsonText;
  readonly limit: number;
  readonly has_next: boolean;
}

/** One page of a list, found by its number. */
export class Page<T> {
  constructor(
    readonly data: readonly T[],
    readonly meta: PageMeta,
  ) {}

  /** Only on pages that are sent in another form than `{data, meta}`. */
  toJSON?(): unknown;

  /** The same page with its rows as they leave. */
  map<View>(toView: (row: T) => View): Page<View> {
    return new Page(this.data.map(toView), this.meta);
  }
}

/** One page of a list, found by where the one before it ended (keyset pagination). */
export class CursorPage<T> {
  constructor(
    readonly data: readonly T[],
    readonly next_cursor: string | undefined,
    readonly has_next: boolean,
  ) {}
}
