import type { FastifyRequest } from 'fastify';

/** What holds a login: a cookie in a browser, or tokens in any client. */
export type SessionKind = 'cookie' | 'token';

/** The login that a credential belongs to. A strategy returns it next to the account, as Passport's `info`. */
export interface SessionInfo {
  readonly sid: string;
  readonly kind: SessionKind;
  /** When the password or second factor of the login was checked last. */
  readonly authenticatedAt: Date;
  /** When the access token expires; a cookie is extended by its use. */
  readonly tokenExpiresAt?: Date;
}

export const API_KEY_SCOPES = ['read', 'write'] as const;

/** What an API key may do: read, or write as well. */
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** The API key that a request is authenticated with. */
export interface ApiKeyInfo {
  readonly keyId: number;
  readonly scope: ApiKeyScope;
}

/** The calling account. The module of accounts declares its type, as `FastifyRequest.user`. */
export type CallingAccount = NonNullable<FastifyRequest['user']>;

/** The caller. An API key has a scope; it has no login, so no `sid` and no `kind`. */
export interface Principal extends Partial<SessionInfo>, Partial<ApiKeyInfo> {
  readonly account: CallingAccount;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What a strategy returned next to the account. */
    authInfo?: unknown;
  }
}

/** `null` without credentials, and where the handler is open and credentials were not checked. */
export function principalOf({ user, authInfo }: FastifyRequest): Principal | null {
  return user ? { ...(authInfo as Partial<SessionInfo> | undefined), account: user } : null;
}
