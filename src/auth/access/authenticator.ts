import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Strategy } from 'passport';
import { Credential } from './credential.js';
import { type Principal, principalOf } from './principal.js';

/** Finds out who makes a request, over REST and GraphQL, by asking the strategies that are a `Credential`. */
@Injectable()
export class Authenticator {
  private strategies: readonly Strategy[] | undefined;
  private readonly known = new WeakMap<FastifyRequest, Promise<Principal | null>>();

  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * Asks each strategy in the order of the modules, the bearer token before the session cookie, and sets
   * `request.user`. Asked again for the same request, it remembers.
   *
   * @returns `null` without credentials. A cookie that has expired is none: browsers send it all the same.
   * @throws AppError `TOKEN_NOT_VALID` for a bearer token that is wrong, expired, or of an inactive account,
   * `CSRF_FAILED` for an unsafe call by cookie that may come from another site; and what a strategy throws
   */
  authenticate(request: FastifyRequest): Promise<Principal | null> {
    let principal = this.known.get(request);
    if (!principal) this.known.set(request, (principal = this.ask(request)));
    return principal;
  }

  /** The next call asks again. */
  forget(request: FastifyRequest): void {
    this.known.delete(request);
  }

  private async ask(request: FastifyRequest): Promise<Principal | null> {
    // Each application asks its own strategies; by name, it would get those of the last one in the process.
    this.strategies ??= this.discovery
      .getProviders({ metadataKey: Credential.KEY })
      .map(({ instance }) => instance as Strategy);
    request.user = null;
    for (const strategy of this.strategies) {
      if (await succeeds(strategy, request)) return principalOf(request);
    }
    return null;
  }
}

/** Asks one strategy, as Passport does: by an object of this request that has the actions of a strategy. */
function succeeds(strategy: Strategy, request: FastifyRequest): Promise<boolean> {
  return new Promise((resolve, reject) => {
    // On the strategy itself, concurrent requests would get each other's accounts.
    const actions = {
      success: (user: unknown, info: unknown) => {
        Object.assign(request, { user, authInfo: info });
        resolve(true);
      },
      fail: () => resolve(false),
      pass: () => resolve(false),
      error: reject,
      redirect: () => reject(new Error('A strategy that redirects cannot be a @Credential()')),
    };
    const asked: { authenticate(of: FastifyRequest): void } = Object.assign(Object.create(strategy), actions);
    asked.authenticate(request);
  });
}
