import { AppError } from '../common/errors/errors.js';

/** 16 MiB: the maximum text in the response of a GraphQL operation, in bytes. */
const LIMIT = 16 * 1024 * 1024;

/** Counts the text that an operation selects, by its context, so that too much is rejected before it is loaded. */
export class ResponseBudget {
  private readonly spent = new WeakMap<object, number>();

  spend(context: object, bytes: number): void {
    this.spent.set(context, (this.spent.get(context) ?? 0) + bytes);
  }

  /**
   * Call it before texts are loaded, once for all fields that are ready: an error for each of them would take long.
   *
   * @throws AppError `QUERY_TOO_COMPLEX` when the response would have more than 16 MiB of text
   */
  check(context: object): void {
    if ((this.spent.get(context) ?? 0) <= LIMIT) return;
    const message = `The texts of the response take more than ${LIMIT} bytes; ask for fewer objects`;
    throw new AppError('QUERY_TOO_COMPLEX', message);
  }
}
