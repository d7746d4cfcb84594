import { applyDecorators, type ArgumentsHost, Catch, SetMetadata, UseFilters } from '@nestjs/common';
import { ErrorFilter } from './error.filter.js';
import { AppError } from '../errors/errors.js';
import { toAppError } from '../errors/to-app-error.js';

export const WITHOUT_DETAILS = Symbol('without details');

@Catch()
class WithoutDetailsFilter extends ErrorFilter {
  override catch(thrown: unknown, host: ArgumentsHost): AppError | void {
    const error = toAppError(thrown);
    return super.catch(
      error.code === 'VALIDATION_ERROR' ? new AppError(error.code, error.message, { cause: thrown }) : error,
      host,
    );
  }
}

/** Invalid bodies cause an error without details, whose message has the text of the validator. @public for modules that teams add */
export const WithoutDetails = (): ClassDecorator & MethodDecorator =>
  applyDecorators(UseFilters(WithoutDetailsFilter), SetMetadata(WITHOUT_DETAILS, true));
