import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import passport from 'passport';
import { clientOf } from './client.js';
import { type Principal, principalOf, rememberPrincipal } from './principal.js';
import { Csrf } from './sessions/csrf.js';
import { SessionCookie } from './sessions/session-cookie.js';
import { Sessions } from './sessions/sessions.js';
import { AccessTokenStrategy } from './tokens/access-token.strategy.js';
import { hasBearer } from './tokens/bearer.js';
import { tokenNotValid } from './tokens/token-codec.js';

const STRATEGY = 'access-token';

/** Says who makes a request; the one place that looks at credentials, for REST and GraphQL. */
@Injectable()
export class Authenticator {
  /** Our own: passport's usual one is shared by everything in the process. */
  private readonly passport = new passport.Passport();

  constructor(
    strategy: AccessTokenStrategy,
    private readonly cookie: SessionCookie,
    private readonly sessions: Sessions,
    private readonly csrf: Csrf,
  ) {
    this.passport.use(STRATEGY, strategy);
  }

  /**
   * By its bearer token, and by its session cookie only without one. Asked again for the same request, it
   * remembers.
   *
   * @returns `null` for a request without credentials; a cookie that is not good any more is none, as browsers
   * send it all the same
   * @throws AppError `TOKEN_NOT_VALID` for a token that is bad, expired, or of an inactive account,
   * `CSRF_FAILED` for an unsafe call by cookie that may be another site's
   */
  async authenticate(request: FastifyRequest): Promise<Principal | null> {
    const known = principalOf(request);
    if (known !== undefined) return known;
    const principal = hasBearer(request) ? await this.byToken(request) : await this.byCookie(request);
    rememberPrincipal(request, principal);
    return principal;
  }

  private async byCookie(request: FastifyRequest): Promise<Principal | null> {
    const credential = this.cookie.read(request);
    if (credential === undefined) return null;
    const principal = await this.sessions.find(credential, clientOf(request));
    if (principal) this.csrf.check(request, principal.sid);
    return principal;
  }

  private byToken({ headers }: FastifyRequest): Promise<Principal> {
    return new Promise((resolve, reject) => {
      const authenticate = this.passport.authenticate(
        STRATEGY,
        { session: false },
        (error: Error | null, principal: Principal | false) => {
          if (error) reject(error);
          else if (principal) resolve(principal);
          else reject(tokenNotValid());
        },
      );
      try {
        // Passport writes to the request that it is given.
        authenticate({ headers }, undefined, reject);
      } catch {
        // Some payloads are too odd for jsonwebtoken; what the database says comes by the callback.
        reject(tokenNotValid());
      }
    });
  }
}
