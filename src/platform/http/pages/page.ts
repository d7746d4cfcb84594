import type { JsonText } from '../json-text.js';
import { encodeCursor } from './cursor.js';

/** The `meta` of a page. */
export interface PageMeta {
  /** The number of matches if the list is filtered, otherwise of all rows. */
  readonly total: number;
  /** The requested page; past 2^53 as text, because a number would be rounded. */
  readonly page: number | JsonText;
  readonly limit: number;
  readonly has_next: boolean;
}

/** Loads a complete row of a large page right before it is sent; `undefined` if the row has been deleted. */
export type Completion<T> = (index: number) => Promise<T | undefined>;

/** The rows of a page, which only `paged` can send. Those of a large page are incomplete: it is sent row by row. */
abstract class Rows<T> {
  /** @param completion present for a large page */
  constructor(
    readonly data: readonly T[],
    readonly completion: Completion<T> | undefined,
  ) {}

  /** @throws Error, because the response would have no `Link`, and a large page no complete rows */
  toJSON(): never {
    throw new Error('Return paged(reply, page) instead of the page: it sets the Link header');
  }

  /** {@link completion} for rows that were converted. */
  protected completionAs<View>(toView: (row: T) => View): Completion<View> | undefined {
    const { completion } = this;
    if (!completion) return undefined;
    return async (index) => {
      const row = await completion(index);
      return row === undefined ? undefined : toView(row);
    };
  }
}

/** One page of a list, by number. */
export class Page<T> extends Rows<T> {
  constructor(
    data: readonly T[],
    readonly meta: PageMeta,
    completion?: Completion<T>,
  ) {
    super(data, completion);
  }

  /** What `paged` sends. */
  get body(): { readonly data: readonly T[]; readonly meta: PageMeta } {
    const { data, meta } = this;
    return { data, meta };
  }

  /** The same page with converted rows. */
  map<View>(toView: (row: T) => View): Page<View> {
    return new Page(this.data.map(toView), this.meta, this.completionAs(toView));
  }
}

/** One page of a list by cursor (keyset pagination). */
export class CursorPage<T> extends Rows<T> {
  constructor(
    data: readonly T[],
    readonly next_cursor: string | undefined,
    readonly has_next: boolean,
    completion?: Completion<T>,
  ) {
    super(data, completion);
  }

  /**
   * @param rows in the order of their ids, with one more than the page if there are more
   * @param completionOf the completion of the rows of the page
   */
  static of<T extends { readonly id: number }>(
    rows: readonly T[],
    limit: number,
    completionOf?: (data: readonly T[]) => Completion<T> | undefined,
  ): CursorPage<T> {
    const data = rows.slice(0, limit);
    const last = rows.length > limit ? data.at(-1) : undefined;
    const cursor = last && encodeCursor(last.id);
    return new CursorPage(data, cursor, last !== undefined, completionOf?.(data));
  }

  /** What `paged` sends. */
  get body(): {
    readonly data: readonly T[];
    readonly next_cursor: string | undefined;
    readonly has_next: boolean;
  } {
    const { data, next_cursor, has_next } = this;
    return { data, next_cursor, has_next };
  }

  /** The same page with converted rows. */
  map<View>(toView: (row: T) => View): CursorPage<View> {
    return new CursorPage(this.data.map(toView), this.next_cursor, this.has_next, this.completionAs(toView));
  }
}
