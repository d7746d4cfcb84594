import { AppError } from '../errors/errors.js';

/** 16 MiB: the most text that an operation of GraphQL may respond with, in bytes. */
const LIMIT = 16 * 1024 * 1024;

/** Counts what an operation is about to load, by its context, so that it is rejected before that is in memory. */
export class ResponseBudget {
  private readonly spent = new WeakMap<object, number>();

  /** @throws AppError `QUERY_TOO_COMPLEX` when the operation would respond with more than 16 MiB of text */
  spend(context: object, bytes: number): void {
    const total = (this.spent.get(context) ?? 0) + bytes;
    this.spent.set(context, total);
    if (total <= LIMIT) return;
    const message = `The texts of the response take more than ${LIMIT} bytes; ask for fewer objects`;
    throw new AppError('QUERY_TOO_COMPLEX', message);
  }
}
