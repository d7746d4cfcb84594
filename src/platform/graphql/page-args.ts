import type { PageDefaults } from '../http/pages/page-request.js';

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

/** `page` and `limit` of a list in GraphQL. Invalid values are replaced, never rejected. */
interface PageArgs {
  readonly page?: number | null;
  readonly limit?: number | null;
}

/** A page below 1 or null becomes 1; a limit outside of 1 to the maximum or null becomes the default. */
export function toRange({ page, limit }: PageArgs, defaults: PageDefaults): Range {
  const isPage = Number.isInteger(page) && page! >= 1;
  const isLimit = Number.isInteger(limit) && limit! >= 1 && limit! <= defaults.maxLimit;
  const rows = isLimit ? limit! : defaults.limit;
  return { limit: rows, offset: ((isPage ? page! : 1) - 1) * rows };
}

/** The cost of a list field (`complexity`): the maximum number of objects on a page, with their fields. */
export const listCost =
  (defaults: PageDefaults) =>
  ({ args, childComplexity }: { args: PageArgs; childComplexity: number }): number =>
    toRange(args, defaults).limit * (1 + childComplexity);
