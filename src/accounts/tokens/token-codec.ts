import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService, type JwtVerifyOptions } from '@nestjs/jwt';
import { Clock } from '../../platform/jobs/clock.js';
import { tokenExpired, tokenNotValid } from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { SigningKeys, type TokenType, type VerificationKey } from './signing-keys.js';

/** The claims of a refresh token. Times in seconds since the epoch (RFC 7519, section 2). */
export interface Claims {
  readonly token_type: TokenType;
  /** Id of the account, in decimal. */
  readonly sub: string;
  readonly user_id: number;
  /** Id of the token's login. */
  readonly sid: string;
  /** Id of the token. */
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

/** Validity, in seconds. */
const ACCESS_LIFETIME = 30 * 60;
const REFRESH_LIFETIME = 7 * 24 * 3600;

/** Longer than any token of this service; longer ones are not decoded. */
const MAX_LENGTH = 4096;

/** `SigningKeys` gives each algorithm its own keys. `TokenCodec` checks the times, with the injected clock. */
export const VERIFY_OPTIONS = {
  algorithms: ['HS256', 'ES256'],
  ignoreExpiration: true,
} satisfies JwtVerifyOptions;

/** The current refresh token of a login, and when it expires. */
export interface RefreshToken {
  readonly jti: string;
  readonly expiresAt: Date;
  readonly token: string;
}

/** Signs and verifies tokens (JWT, RFC 7519). It does not use the database. */
@Injectable()
export class TokenCodec {
  constructor(
    private readonly jwt: JwtService,
    private readonly clock: Clock,
    private readonly keys: SigningKeys,
  ) {}

  /** A token that authenticates the account for 30 minutes. */
  access(account: Account, sid: string): string {
    const { email, name } = account;
    const claims = this.claims('access', account, sid, ACCESS_LIFETIME);
    return this.jwt.sign({ ...claims, email, name, role: account.role }, this.keys.signOptions('access'));
  }

  /** A token that can be exchanged for new tokens once, within a week. */
  refresh(account: Account, sid: string): RefreshToken {
    const claims = this.claims('refresh', account, sid, REFRESH_LIFETIME);
    return {
      jti: claims.jti,
      expiresAt: new Date(claims.exp * 1000),
      token: this.jwt.sign({ ...claims }, this.keys.signOptions('refresh')),
    };
  }

  read(token: string, ...types: TokenType[]): Claims {
    const key = isReadable(token) ? this.keyOf(token) : undefined;
    return this.check(key === undefined ? undefined : this.verify(token, key), ...types);
  }

  /** @param payload of a token whose signature is right */
  check(payload: unknown, ...types: TokenType[]): Claims {
    const now = this.clock.now();
    if (!areClaims(payload, now) || !types.includes(payload.token_type)) throw tokenNotValid();
    if (hasExpired(payload, now)) throw tokenExpired();
    return payload;
  }

  private claims(token_type: TokenType, { id }: Account, sid: string, lifetime: number): Claims {
    const iat = Math.floor(this.clock.now().getTime() / 1000);
    return { token_type, sub: String(id), user_id: id, sid, jti: randomUUID(), iat, exp: iat + lifetime };
  }

  /** The key that signed a token, unverified if there is only one candidate; `undefined` if there is none. */
  keyOf(token: string): VerificationKey | undefined {
    const keys = this.keys.of(token);
    return keys.find((key, n) => n === keys.length - 1 || this.verify(token, key) !== undefined);
  }

  private verify(token: string, { key, algorithm }: VerificationKey): unknown {
    try {
      return this.jwt.verify(token, { ...VERIFY_OPTIONS, algorithms: [algorithm], secret: key });
    } catch {
      return undefined;
    }
  }
}

/** Whether the text can be a token. */
export const isReadable = (token: string): boolean => token.length <= MAX_LENGTH;

/** How far the clocks of replicas may differ, in seconds. */
const LEEWAY = 5;

/** Whether a payload, whose signature is right, has the claims of a token, and was not issued in the future. */
function areClaims(payload: unknown, now: Date): payload is Claims {
  if (typeof payload !== 'object' || payload === null) return false;
  const { token_type, sub, user_id, sid, jti, iat, exp } = payload as Record<string, unknown>;
  return (
    (token_type === 'access' || token_type === 'refresh') &&
    Number.isSafeInteger(user_id) &&
    sub === String(user_id) &&
    isText(sid) &&
    isText(jti) &&
    Number.isSafeInteger(iat) &&
    (iat as number) <= now.getTime() / 1000 + LEEWAY &&
    Number.isSafeInteger(exp)
  );
}

const hasExpired = ({ exp }: Claims, now: Date): boolean => exp <= now.getTime() / 1000;

/** Ids are compared in the database, which does not accept NUL. */
const isText = (value: unknown): boolean => typeof value === 'string' && /^[\w-]{1,64}$/.test(value);
