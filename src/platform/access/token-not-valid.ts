import { AppError, ERRORS } from '../http/errors/errors.js';

/** For a token that is malformed, used, or of an ended login or an inactive account. */
export const tokenNotValid = (cause?: unknown): AppError =>
  new AppError('TOKEN_NOT_VALID', ERRORS.TOKEN_NOT_VALID.message, { cause });

/** For an expired token: the client refreshes it, or logs in again. */
export const tokenExpired = (): AppError => new AppError('TOKEN_NOT_VALID', 'The token has expired');
