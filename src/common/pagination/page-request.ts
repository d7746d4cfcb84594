import { JsonText } from '../http/json-text.js';
import { firstValue, type QueryParameters } from '../http/query.js';
import { parseInt64 } from '../validation/int64.js';
import { type Completion, Page } from './page.js';

interface PageDefaults {
  readonly limit: number;
  /** A limit outside 1 to this is replaced by the default, not clamped. */
  readonly maxLimit: number;
}

/** More rows than this before a page take time to pass over. */
export const DEEP = 1000;

/** Which page of a list is asked for. Never rejected: what makes no sense is replaced. */
export class PageRequest {
  private constructor(
    private readonly page: bigint,
    readonly limit: number,
  ) {}

  static from(
    query: QueryParameters,
    { limit, maxLimit }: PageDefaults = { limit: 20, maxLimit: 100 },
  ): PageRequest {
    const page = parseInt64(firstValue(query, 'page') ?? '');
    return new PageRequest(
      page === undefined || page < 1n ? 1n : page,
      limitFrom(query, { limit, maxLimit }),
    );
  }

  /** Rows before this page; past the end of any list when the page number is beyond all counting. */
  get offset(): number {
    return Number((this.page - 1n) * BigInt(this.limit));
  }

  /** Whether so many rows come before this page that passing over them takes time. */
  get isDeep(): boolean {
    return this.offset > DEEP;
  }

  /** The response, once its rows and the length of the whole list are known. */
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
export function limitFrom(
  query: QueryParameters,
  { limit, maxLimit }: PageDefaults = { limit: 20, maxLimit: 100 },
): number {
  const asked = parseInt64(firstValue(query, 'limit') ?? '');
  return asked === undefined || asked < 1n || asked > BigInt(maxLimit) ? limit : Number(asked);
}
