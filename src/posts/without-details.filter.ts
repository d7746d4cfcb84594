import { type ArgumentsHost, Catch } from '@nestjs/common';
import { ErrorFilter } from '../common/errors/error.filter.js';
import { AppError } from '../common/errors/errors.js';
import { toAppError } from '../common/errors/to-app-error.js';

/** The specification gives posts a message only: the validator's text stands there whole. */
@Catch()
export class WithoutDetailsFilter extends ErrorFilter {
  override catch(thrown: unknown, host: ArgumentsHost): void {
    const error = toAppError(thrown);
    super.catch(
      error.code === 'VALIDATION_ERROR' ? new AppError(error.code, error.message, { cause: thrown }) : error,
      host,
    );
  }
}
