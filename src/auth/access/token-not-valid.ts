import { AppError } from '../../common/errors/errors.js';

export const tokenNotValid = (cause?: unknown): AppError =>
  new AppError('TOKEN_NOT_VALID', 'The token is not valid, or not any more', { cause });
