import { firstValue, type QueryParameters } from '../http/query.js';
import { decodeCursor } from './cursor.js';
import { limitFrom } from './page-request.js';

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
