import { AppError } from '../errors/errors.js';

/** 16 MiB: the maximum text in the response of a GraphQL operation, in bytes. */
const LIMIT = 16 * 1024 * 1024;

/** Counts the text that an operation loads, by its context, so that too much is rejected before it is in memory. */
export class ResponseBudget {
  private readonly spent = new WeakMap<object, number>();

  /** @throws AppError `QUERY_TOO_COMPLEX` when the response would have more than 16 MiB of text */
  spend(context: object, bytes: number): void {
    const total = (this.spent.get(context) ?? 0) + bytes;
    this.spent.set(context, total);
    if (total <= LIMIT) return;
    const message = `The texts of the response take more than ${LIMIT} bytes; ask for fewer objects`;
    throw new AppError('QUERY_TOO_COMPLEX', message);
  }
}
