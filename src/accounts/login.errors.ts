import { AppError } from '../platform/http/errors/errors.js';

export const BAD_CREDENTIALS = 'The e-mail or the password is wrong';

export const EMAIL_NOT_VERIFIED =
  'The e-mail address is not verified; open the link in the verification mail';

export const WRONG_VERIFIER = 'The code_verifier is wrong or missing';

export const badCredentials = (): AppError => new AppError('UNAUTHENTICATED', BAD_CREDENTIALS);

export const emailNotVerified = (): AppError =>
  new AppError('FORBIDDEN', EMAIL_NOT_VERIFIED, { isDenial: false });
