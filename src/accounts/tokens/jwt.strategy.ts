import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import passport from 'passport';
import { Strategy } from 'passport-jwt';
import { Credential, type SessionInfo, readBearer, tokenNotValid } from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { SessionsService } from '../sessions.service.js';
import { isReadable, TokenCodec, VERIFY_OPTIONS } from './token-codec.js';

const NAME = 'jwt';

declare module 'fastify' {
  interface FastifyInstance {
    /** The strategy of this application. */
    jwtStrategy?: JwtStrategy;
  }
}

/**
 * `Authorization: Bearer <access token>`; also `AuthGuard('jwt')`. Passport has one strategy for each name in the
 * process, so this one delegates to the application that got the request: two applications in one process do
 * not accept each other's tokens.
 */
@Injectable()
@Credential()
export class JwtStrategy extends PassportStrategy(Strategy, NAME) {
  constructor(
    private readonly sessions: SessionsService,
    private readonly codec: TokenCodec,
  ) {
    rejectForeignStrategy();
    const own: { strategy?: JwtStrategy } = {};
    super({
      ...VERIFY_OPTIONS,
      passReqToCallback: true,
      jwtFromRequest: bearerToken,
      secretOrKeyProvider: (request: FastifyRequest, token: string, done: KeyCallback) => {
        // A request that a module makes itself, such as for a WebSocket, has no server.
        (request.server?.jwtStrategy ?? own.strategy!).giveKey(token, done);
      },
    });
    own.strategy = this;
  }

  /** Without a token the strategy fails, so that another credential may succeed; an invalid token is an error. */
  override authenticate(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
    // Passport calls this on a copy for each request, which has its own `fail` and `error`.
    if (bearerToken(request) === null) {
      // passport-jwt would create an error, with its stack, for each anonymous request.
      this.fail(401);
      return;
    }
    this.fail = (cause: unknown) => this.error(tokenNotValid(cause));
    try {
      super.authenticate(request, options);
    } catch (error) {
      // For some malformed payloads, jsonwebtoken throws instead of calling back.
      this.error(tokenNotValid(error));
    }
  }

  /** @throws Error if a module has replaced the strategy: `AuthGuard('jwt')` would use the wrong one */
  onApplicationBootstrap(): void {
    rejectForeignStrategy();
  }

  validate({ server }: FastifyRequest, payload: unknown): Promise<[Account, SessionInfo]> {
    return (server?.jwtStrategy ?? this).accountOf(payload);
  }

  private async accountOf(payload: unknown): Promise<[Account, SessionInfo]> {
    const { user_id, sid, exp } = this.codec.check(payload, 'access');
    const found = await this.sessions.find({ id: sid, accountId: user_id });
    if (!found) throw tokenNotValid();
    return [found.account, { ...found.session, tokenExpiresAt: new Date(exp * 1000) }];
  }

  private giveKey(token: string, done: KeyCallback): void {
    const key = isReadable(token) ? this.codec.keyOf(token) : undefined;
    if (key === undefined) done(tokenNotValid());
    else done(null, key.key);
  }
}

/** Makes the strategy of an application known to the requests that it gets. */
export const bearerTokens = fastifyPlugin<{ strategy: JwtStrategy }>(
  (fastify, { strategy }, done) => {
    fastify.decorate('jwtStrategy', strategy);
    done();
  },
  { name: 'bearer tokens' },
);

type KeyCallback = (error: unknown, key?: string) => void;

interface WithHeaders {
  readonly headers: { readonly authorization?: string | undefined };
}

/** A request that finds out whether Passport has this strategy under the name. */
const probe: WithHeaders & { isOurs: boolean } = { headers: {}, isOurs: false };

function bearerToken(request: WithHeaders): string | null {
  if (request === probe) probe.isOurs = true;
  return readBearer(request.headers.authorization);
}

function rejectForeignStrategy(): void {
  probe.isOurs = false;
  let isTaken = true;
  const callback = (error: unknown) => {
    isTaken = !(error instanceof Error && error.message.startsWith('Unknown authentication strategy'));
  };
  const ask = passport.authenticate(NAME, { session: false }, callback) as (
    request: unknown,
    response: unknown,
    next: (error: unknown) => void,
  ) => void;
  ask(probe, undefined, callback);
  if (isTaken && !probe.isOurs) {
    throw new Error(
      `Another Passport strategy is registered as '${NAME}', the name of this service's own; give it another name`,
    );
  }
}
