import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import passport from 'passport';
import { Strategy } from 'passport-jwt';
import { Credential, type SessionInfo, readBearer, tokenNotValid } from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { SessionsService } from '../sessions.service.js';
import { isReadable, TokenCodec, VERIFY_OPTIONS } from './token-codec.js';

const NAME = 'jwt';

/** `Authorization: Bearer <access token>`; also `AuthGuard('jwt')`. */
@Injectable()
@Credential()
export class JwtStrategy extends PassportStrategy(Strategy, NAME) implements OnApplicationBootstrap {
  constructor(
    private readonly sessions: SessionsService,
    private readonly codec: TokenCodec,
  ) {
    rejectForeignStrategy();
    super({
      ...VERIFY_OPTIONS,
      jwtFromRequest: bearerToken,
      secretOrKeyProvider: (_request: unknown, token: string, done: KeyCallback) => {
        const key = isReadable(token) ? codec.keyOf(token) : undefined;
        if (key === undefined) done(tokenNotValid());
        else done(null, key.key);
      },
    });
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

  async validate(payload: unknown): Promise<[Account, SessionInfo]> {
    const { user_id, sid, exp } = this.codec.check(payload, 'access');
    const found = await this.sessions.find({ id: sid, accountId: user_id });
    if (!found) throw tokenNotValid();
    return [found.account, { ...found.session, tokenExpiresAt: new Date(exp * 1000) }];
  }

  /** @throws Error if a module has replaced the strategy: `AuthGuard('jwt')` would use the wrong one */
  onApplicationBootstrap(): void {
    rejectForeignStrategy();
  }
}

type KeyCallback = (error: unknown, key?: string) => void;

const bearerToken = ({ headers }: { readonly headers: { readonly authorization?: string | undefined } }) =>
  readBearer(headers.authorization);

function rejectForeignStrategy(): void {
  // Passport has no public way to see which strategy has a name.
  const { _strategies: strategies } = passport as unknown as { _strategies: Record<string, unknown> };
  const registered = strategies[NAME];
  if (registered === undefined || registered instanceof JwtStrategy) return;
  throw new Error(
    `Another Passport strategy is registered as '${NAME}', the name of this service's own; give it another name`,
  );
}
