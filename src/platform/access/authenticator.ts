import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Strategy } from 'passport';
import { Credential } from './credential.js';
import { type Principal, principalOf } from '../http/principal.js';

/** Authenticates requests over REST and GraphQL, with the strategies that are marked as `Credential`. */
@Injectable()
export class Authenticator {
  private strategies: readonly Strategy[] | undefined;
  private readonly known = new WeakMap<FastifyRequest, Promise<Principal | null>>();

  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * Tries the strategies in the order of their modules (the bearer token before the session cookie) and sets
   * `request.user`. The result is kept for the request.
   *
   * @returns `null` without credentials. An expired cookie counts as none, because browsers still send it.
   * @throws AppError `TOKEN_NOT_VALID` for a bearer token that is invalid, expired, or of an inactive account,
   * `CSRF_FAILED` for an unsafe call by cookie without its CSRF token; and the errors of the strategies
   */
  authenticate(request: FastifyRequest): Promise<Principal | null> {
    let principal = this.known.get(request);
    if (!principal) this.known.set(request, (principal = this.ask(request)));
    return principal;
  }

  /** The next call for the request authenticates again. */
  clearCache(request: FastifyRequest): void {
    this.known.delete(request);
  }

  private async ask(request: FastifyRequest): Promise<Principal | null> {
    // Each application uses its own strategies; Passport finds by name the one that was registered last in the process.
    this.strategies ??= this.findStrategies();
    request.user = null;
    for (const strategy of this.strategies) {
      if (await succeeds(strategy, request)) return principalOf(request);
    }
    return null;
  }

  /** In the order of their modules: those that Nest finds by a key are in the order in which it has created them. */
  private findStrategies(): Strategy[] {
    const credentials = new Set(this.discovery.getProviders({ metadataKey: Credential.KEY }));
    return this.discovery
      .getProviders()
      .filter((provider) => credentials.has(provider))
      .map(({ instance }) => instance as Strategy);
  }
}

/** Runs one strategy like Passport does: on an object of this request that has the actions of a strategy. */
function succeeds(strategy: Strategy, request: FastifyRequest): Promise<boolean> {
  return new Promise((resolve, reject) => {
    // If they were set on the strategy itself, concurrent requests would get each other's accounts.
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
