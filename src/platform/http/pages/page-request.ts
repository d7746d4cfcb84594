import { JsonText } from '../json-text.js';
import { firstValue, type QueryParameters } from '../query.js';
import { parseInt64 } from '../validation/id.js';
import { decodeCursor } from './cursor.js';
import { type Completion, Page } from './page.js';

/** The default and the maximum length of a page. */
export interface PageDefaults {
  readonly limit: number;
  /** A limit outside of 1 to this is replaced by the default, not clamped. */
  readonly maxLimit: number;
}

export const PAGES: PageDefaults = { limit: 20, maxLimit: 100 };

/** Skipping more rows than this takes time. */
export const DEEP = 1000;

/** The requested page of a list. Invalid values are replaced, never rejected. */
export class PageRequest {
  private constructor(
    private readonly page: bigint,
    readonly limit: number,
  ) {}

  static from(query: QueryParameters, defaults: PageDefaults = PAGES): PageRequest {
    const page = parseInt64(firstValue(query, 'page') ?? '');
    return new PageRequest(page === undefined || page < 1n ? 1n : page, limitFrom(query, defaults));
  }

  /** The number of rows before this page; beyond any list if the page number is too large. */
  get offset(): number {
    return Number((this.page - 1n) * BigInt(this.limit));
  }

  /** Whether skipping the rows before this page takes time. */
  get isDeep(): boolean {
    return this.offset > DEEP;
  }

  /** The response, from its rows and the length of the list. */
  of<T>(data: readonly T[], total: number, completion?: Completion<T>): Page<T> {
    const exact = Number(this.page);
    const meta = {
      total,
      page: Number.isSafeInteger(exact) ? exact : new JsonText(String(this.page)),
      limit: this.limit,
      has_next: this.page * BigInt(this.limit) < BigInt(total),
    };
    return new Page(data, meta, completion);
  }
}

/** `limit` of a query: a whole number from 1 to the maximum, else the default. */
export function limitFrom(query: QueryParameters, { limit, maxLimit }: PageDefaults = PAGES): number {
  const requested = parseInt64(firstValue(query, 'limit') ?? '');
  return requested === undefined || requested < 1n || requested > BigInt(maxLimit)
    ? limit
    : Number(requested);
}

/** A page of a list in the order of ids, which new rows do not shift: at most `limit` rows after `afterId`. */
export interface CursorRequest {
  readonly afterId: number;
  readonly limit: number;
}

/** @throws AppError `INVALID_CURSOR` */
export const cursorRequest = (query: QueryParameters): CursorRequest => ({
  afterId: decodeCursor(firstValue(query, 'cursor')),
  limit: limitFrom(query),
});
