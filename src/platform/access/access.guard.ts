import { type CanActivate, type ExecutionContext, Injectable, Logger, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { GqlExecutionContext } from '@nestjs/graphql';
import { type GraphQLResolveInfo, OperationTypeNode } from 'graphql';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { makePrivate } from '../http/cache-headers.js';
import { isGraphQL, requestOf } from '../http/request-of.js';
import { isSafe } from '../http/methods.js';
import { SecurityEvents } from '../http/security-events.js';
import { Config } from '../config/config.js';
import { type Access, ACCESS, API_KEYS } from './access.js';
import { Authenticator } from './authenticator.js';
import { ignoreCredentials } from './current-account.js';
import type { ApiKeyScope, Principal } from '../http/principal.js';

export const OUT_OF_SCOPE =
  'The API key does not allow this: use a key with the scope write, or log in. Below /auth/, keys read /auth/me/ only';

const NO_REQUEST =
  'is closed, because accounts are known over REST and GraphQL only: make it @Public(), and give it a guard of its own';

const NO_SESSION = 'Send the session cookie; a token is not accepted here';

/**
 * The one guard, for REST and GraphQL: admits the callers that the {@link Access} of the handler allows. With
 * `WRITE_ACCESS=open`, the default in development, it checks no credentials of handlers that follow that setting.
 * Where a response depends on the caller, caches must not store it.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly logger = new Logger(AccessGuard.name);

  /** Handlers that were called without a request: each is in the log once, whatever its clients send. */
  private readonly closed = new Set<Function>();

  /** The access of each handler, read from its decorators once. */
  private readonly accesses = new Map<Type, Map<Function, Access | undefined>>();

  constructor(
    private readonly reflector: Reflector,
    private readonly config: Config,
    private readonly authenticator: Authenticator,
    private readonly security: SecurityEvents,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access = this.accessOf(context);
    if (access === 'public') return true;
    // Such as a message to a gateway: its connection has no request that a credential could be read from.
    if (context.getType() !== 'http' && !isGraphQL(context)) return this.close(context);
    // A field has the access of its parent, unless it or its class has a decorator.
    if (access === undefined && isField(context)) return true;
    const { writeAccess } = this.config;
    const isBySetting = access === 'optional' || access === 'write' || access === 'owner';
    if (isBySetting && writeAccess === 'open') {
      if (isGraphQL(context)) ignoreCredentials(context);
      return true;
    }
    const requiredOfWriters = writeAccess === 'staff' ? 'staff' : undefined;
    // Not private: what everyone may read is the same for every caller.
    if (access === 'write') return !isWritingCall(context) || this.admit(context, requiredOfWriters);
    if (context.getType() === 'http') makePrivate(context.switchToHttp().getResponse());
    if (access === 'optional' || access === 'public with account') return this.authenticateIfSent(context);
    if (access === 'owner')
      return this.admit(context, isWritingCall(context) ? requiredOfWriters : undefined);
    // Without a decorator: any account.
    return this.admit(context, access);
  }

  private close(context: ExecutionContext): false {
    const handler = context.getHandler();
    if (!this.closed.has(handler))
      this.logger.warn(`${context.getClass().name}.${handler.name} ${NO_REQUEST}`);
    this.closed.add(handler);
    return false;
  }

  private async authenticateIfSent(context: ExecutionContext): Promise<boolean> {
    await this.principalOf(context);
    return true;
  }

  /**
   * Tries the Passport strategies, in the order of their modules; one that succeeds sets `request.user`.
   *
   * @returns null without credentials
   * @throws AppError `TOKEN_NOT_VALID`, `CSRF_FAILED`; `FORBIDDEN` if an API key does not allow the call
   */
  private async principalOf(context: ExecutionContext): Promise<Principal | null> {
    const principal = await this.authenticator.authenticate(requestOf(context));
    if (principal?.scope !== undefined && !this.isInScope(principal.scope, context)) {
      this.security.record('api_key_refused', { accountId: principal.account.id, reason: 'scope' });
      throw new AppError('FORBIDDEN', OUT_OF_SCOPE);
    }
    return principal;
  }

  private async admit(
    context: ExecutionContext,
    only?: 'account' | 'staff' | 'superuser' | 'cookie',
  ): Promise<boolean> {
    const principal = await this.principalOf(context);
    if (!principal) throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);
    const { account, kind } = principal;
    if (only === 'staff' && !account.isStaff) throw new AppError('FORBIDDEN', ERRORS.FORBIDDEN.message);
    if (only === 'superuser' && !account.isSuperuser)
      throw new AppError('FORBIDDEN', ERRORS.FORBIDDEN.message);
    if (only === 'cookie' && kind !== 'cookie') throw new AppError('UNAUTHENTICATED', NO_SESSION);
    return true;
  }

  /** Whether an API key may call a handler. */
  private isInScope(scope: ApiKeyScope, context: ExecutionContext): boolean {
    const places = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(API_KEYS, places) === false) return false;
    return scope === 'write' || !isWritingCall(context);
  }

  private accessOf(context: ExecutionContext): Access | undefined {
    const type = context.getClass();
    const handler = context.getHandler();
    let handlers = this.accesses.get(type);
    if (!handlers) this.accesses.set(type, (handlers = new Map()));
    if (!handlers.has(handler)) {
      handlers.set(handler, this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, type]));
    }
    return handlers.get(handler);
  }
}

/** Whether the handler resolves a field of an object, rather than a query, a mutation or a subscription. */
const isField = (context: ExecutionContext): boolean =>
  isGraphQL(context) && infoOf(context).path.prev !== undefined;

const isWritingCall = (context: ExecutionContext): boolean =>
  isGraphQL(context)
    ? infoOf(context).operation.operation === OperationTypeNode.MUTATION
    : !isSafe(requestOf(context));

/** The fourth argument of a field. A context of GraphQL, which resolvers of references and types need, is slow to create. */
function infoOf(context: ExecutionContext): GraphQLResolveInfo {
  const info = context.getArgByIndex<Partial<GraphQLResolveInfo> | undefined>(3);
  if (info?.fieldName !== undefined) return info as GraphQLResolveInfo;
  return GqlExecutionContext.create(context).getInfo();
}
