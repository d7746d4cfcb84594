import type { FastifyRequest } from 'fastify';
import type { Account } from '../accounts/index.js';

/** What holds a login: a cookie in a browser, or tokens in any client. */
export type LoginKind = 'cookie' | 'token';

/** The login that a credential belongs to. A strategy returns it next to the account, as Passport's `info`. */
export interface LoginInfo {
  readonly sid: string;
  readonly kind: LoginKind;
}

/** The caller. A credential without a login, such as an API key, has no `sid` and no `kind`. */
export interface Principal extends Partial<LoginInfo> {
  readonly account: Account;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The calling account, as Passport sets it; `null` without credentials, `undefined` before authentication. */
    user?: Account | null;
    /** What a strategy returned next to the account. */
    authInfo?: unknown;
  }
}

/** `null` without credentials, and where the handler is open and credentials were not checked. */
export function principalOf({ user, authInfo }: FastifyRequest): Principal | null {
  return user ? { ...(authInfo as Partial<LoginInfo> | undefined), account: user } : null;
}
