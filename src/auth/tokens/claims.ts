export type TokenType = 'access' | 'refresh';

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

/** How far the clocks of replicas may differ, in seconds. */
const LEEWAY = 5;

/** Whether a payload, whose signature is right, has the claims of a token, and was not issued in the future. */
export function areClaims(payload: unknown, now: Date): payload is Claims {
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

export const hasExpired = ({ exp }: Claims, now: Date): boolean => exp <= now.getTime() / 1000;

/** Ids are compared in the database, which does not accept NUL. */
const isText = (value: unknown): boolean => typeof value === 'string' && /^[\w-]{1,64}$/.test(value);
