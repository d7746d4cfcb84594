import { GraphQLError } from 'graphql';
import { AppError } from '../../http/errors/errors.js';

/** @returns the error `QUERY_TOO_COMPLEX` with both numbers, if the limit is exceeded */
export function tooComplex(what: string, count: number, limit: number): GraphQLError | undefined {
  if (count <= limit) return undefined;
  const number = Number.isSafeInteger(count) ? String(count) : `more than ${Number.MAX_SAFE_INTEGER}`;
  const message = `The operation has ${number} ${what}, and at most ${limit} are allowed`;
  return new GraphQLError(message, { originalError: new AppError('QUERY_TOO_COMPLEX', message) });
}
