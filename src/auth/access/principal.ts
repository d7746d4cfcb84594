import type { FastifyRequest } from 'fastify';
import type { Account } from '../accounts/index.js';

/** What a login is kept by: a cookie in a browser, or tokens in any client. */
export type LoginKind = 'cookie' | 'token';

/** The login that a credential comes from. A strategy returns it beside the account, as Passport's `info`. */
export interface LoginInfo {
  readonly sid: string;
  readonly kind: LoginKind;
}

/** Who makes a request. A credential that comes from no login, such as an API key, has no `sid` and no `kind`. */
export interface Principal extends Partial<LoginInfo> {
  readonly account: Account;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The calling account, as Passport has it; `null` without credentials, `undefined` where nobody has looked. */
    user?: Account | null;
    /** What a strategy returned beside the account. */
    authInfo?: unknown;
  }
}

/** `null` without credentials, and where the handler is open and nobody has looked. */
export function principalOf({ user, authInfo }: FastifyRequest): Principal | null {
  return user ? { ...(authInfo as Partial<LoginInfo> | undefined), account: user } : null;
}
