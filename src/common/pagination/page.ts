import { AsIs } from '../http/as-is.js';

/** What a page says of the whole list. */
export class PageMeta {
  /** Matches when filtered, all rows otherwise. */
  readonly total!: number;

  /** As asked for; a number past 2^53 is written digit by digit, because JSON has no limit. */
  @AsIs()
  readonly page!: number | RawJson;

  readonly limit!: number;
  readonly has_next!: boolean;
}

/** One page of a list, found by its number. */
export class Page<T> {
  readonly meta: PageMeta;

  constructor(
    readonly data: readonly T[],
    meta: PageMeta,
  ) {
    this.meta = Object.assign(new PageMeta(), meta);
  }

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

/** A number as JSON text (TC39 "JSON.parse source text access"), which TypeScript does not know yet. */
interface RawJson {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
  }
}
