import { SetMetadata, UseGuards } from '@nestjs/common';
import { type Handling, HandlingOfRequest } from './handling.js';
import { IdempotencyGuard } from './idempotency.guard.js';
import { KEY_REQUIRED } from './idempotency-key.js';

export { KEY_REQUIRED };

type Handler = (...parameters: unknown[]) => unknown;

/**
 * A request to this handler (over REST) that carries an `Idempotency-Key` is safe to repeat: it happens once,
 * and is answered as the first time. What the handler writes and the record of its answer are one unit of
 * work, from its first write on, and it may be run again when that collides with another.
 *
 * @param required refuses requests without a key
 */
export const Idempotent =
  ({ required = false } = {}): MethodDecorator =>
  (target: object, name: string | symbol, descriptor: PropertyDescriptor): void => {
    const handler = descriptor.value as Handler;
    const count = handler.length;

    const idempotent = function (this: unknown, ...parameters: unknown[]): unknown {
      const handle = () => handler.apply(this, parameters.slice(0, count));
      const handling = parameters[count] as Handling | undefined;
      return handling ? handling(handle) : handle();
    };
    // Tools call the operation by the name of its handler.
    Object.defineProperty(idempotent, 'name', { value: handler.name });
    // Nest gives it one parameter more than the handler has, and finds on it what others say of the handler.
    HandlingOfRequest()(target, name, count);
    for (const key of Reflect.getMetadataKeys(handler)) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), idempotent);
    }
    descriptor.value = idempotent;
    SetMetadata(KEY_REQUIRED, required)(target, name, descriptor);
    UseGuards(IdempotencyGuard)(target, name, descriptor);
  };
