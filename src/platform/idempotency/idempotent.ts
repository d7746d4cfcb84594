import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { ConfigureRoute } from '../http/route-config.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IDEMPOTENT, type IdempotentOptions } from './idempotency-key.js';

export { IDEMPOTENT, type IdempotentOptions };

/**
 * Makes a handler (over REST) idempotent for requests with an `Idempotency-Key`: it takes effect
 * once, and every retry gets the same response. The handler's writes and the record of its response
 * commit in one transaction, which may run the handler again after a conflict with another transaction.
 */
export const Idempotent = (options: IdempotentOptions = {}): MethodDecorator =>
  applyDecorators(
    SetMetadata(IDEMPOTENT, options),
    ConfigureRoute({ idempotent: true }),
    UseInterceptors(IdempotencyInterceptor),
  );
