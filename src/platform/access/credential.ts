import { DiscoveryService } from '@nestjs/core';
import { Strategy } from 'passport';

/**
 * Marks a Passport strategy as a credential of the whole API: where a handler requires an account, the global guard
 * tries it too. Other strategies, such as those that redirect, are used with `AuthGuard(name)` as usual.
 */
export const Credential = DiscoveryService.createDecorator();

/** `Bearer`, in any letter case, and the rest of the header (RFC 6750, section 2.1; RFC 9110, section 11.1). */
const BEARER = /^bearer(?: +(.*))?$/is;

/** The token of an `Authorization` header; `null` without one, or with another scheme. */
export const readBearer = (authorization = ''): string | null =>
  BEARER.exec(authorization.trim())?.[1]?.trim() || null;

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
