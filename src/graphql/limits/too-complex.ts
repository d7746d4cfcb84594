import { AppError } from '../../common/errors/errors.js';

/** @throws AppError `QUERY_TOO_COMPLEX` with both numbers, when there are more than allowed */
export function tooComplex(what: string, count: number, limit: number): void {
  if (count <= limit) return;
  throw new AppError(
    'QUERY_TOO_COMPLEX',
    `The operation has ${count} ${what}, and at most ${limit} are allowed`,
  );
}
