import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IDEMPOTENT, type IdempotentOptions } from './idempotency-key.js';

export { IDEMPOTENT, type IdempotentOptions };

/**
 * A request to this handler (over REST) that carries an `Idempotency-Key` is safe to repeat: it takes effect
 * once, and every repetition gets the same response. What the handler writes and the record of its response
 * commit in one transaction, which may run the handler again after a collision with another transaction.
 */
export const Idempotent = (options: IdempotentOptions = {}): MethodDecorator =>
  applyDecorators(SetMetadata(IDEMPOTENT, options), UseInterceptors(IdempotencyInterceptor));
