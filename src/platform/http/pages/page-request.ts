import type { Type } from '@nestjs/common';
import { JsonText } from '../json-text.js';
import { QueryField } from '../validation/fields.js';
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

/** `limit` of a query. */
const LimitField = ({ limit, maxLimit }: PageDefaults): PropertyDecorator =>
  QueryField(
    {
      type: 'integer',
      default: limit,
      description: `From 1 to ${maxLimit}; any other value is replaced by ${limit}.`,
    },
    (text) => {
      const length = parseInt64(text);
      return length === undefined || length < 1n || length > BigInt(maxLimit) ? limit : Number(length);
    },
  );

class AnyPageRequest {
  @QueryField(
    {
      type: 'integer',
      format: 'int64',
      default: 1,
      description: 'From 1; any other value is replaced by 1.',
    },
    (text) => {
      const page = parseInt64(text);
      return page === undefined || page < 1n ? 1n : page;
    },
  )
  readonly page: bigint = 1n;

  readonly limit!: number;

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

/** A {@link PageRequest} with other lengths. @public for modules that teams add */
export function PageRequestOf(defaults: PageDefaults): Type<AnyPageRequest> {
  class OtherPageRequest extends AnyPageRequest {
    @LimitField(defaults)
    override readonly limit: number = defaults.limit;
  }
  return OtherPageRequest;
}

/**
 * The page of a list that a client requests: `@Query() page: PageRequest`. A class with filters extends it. Invalid values
 * are replaced, never rejected.
 */
export class PageRequest extends PageRequestOf(PAGES) {}

/** `cursor` of a query. @public for modules that teams add */
export const CursorField = (): PropertyDecorator =>
  QueryField({
    type: 'string',
    description: 'The `next_cursor` of an earlier response; absent or empty starts at the beginning.',
  });

/** A page of a list in the order of ids, which new rows do not shift: `@Query() page: CursorRequest`. */
export class CursorRequest {
  @CursorField()
  readonly cursor?: string;

  @LimitField(PAGES)
  readonly limit: number = PAGES.limit;

  /** The id that the page follows. @throws AppError `INVALID_CURSOR` */
  get afterId(): number {
    return decodeCursor(this.cursor);
  }
}

/**
 * Either of them, for a list that has both: with a `cursor`, it is a {@link CursorRequest}.
 *
 * @public
 */
export class PageOrCursorRequest extends PageRequest {
  @CursorField()
  readonly cursor?: string;

  /** As in {@link CursorRequest}. @throws AppError `INVALID_CURSOR` */
  get afterId(): number {
    return decodeCursor(this.cursor);
  }
}
