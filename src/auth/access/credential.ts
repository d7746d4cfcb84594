import { DiscoveryService } from '@nestjs/core';
import { Strategy } from 'passport';

/**
 * Marks a Passport strategy as a credential of the whole API: where a handler requires an account, the global guard
 * tries it too. Other strategies, such as those that redirect, are used with `AuthGuard(name)` as usual.
 */
export const Credential = DiscoveryService.createDecorator();

type Done = (error: unknown, user?: unknown, info?: unknown) => void;

/** The base of a strategy whose `validate(request)` finds the credential itself; a falsy result means none. */
export class RequestStrategy extends Strategy {
  constructor(private readonly verify: (request: unknown, done: Done) => void) {
    super();
  }

  override authenticate(request: unknown): void {
    this.verify(request, (error, user, info) => {
      if (error) this.error(error);
      else if (user) this.success(user, info as object);
      else this.fail();
    });
  }
}
