import type { ExecutionContext } from '@nestjs/common';
import { GqlExecutionContext } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import type { Account } from './accounts/account.entity.js';
import type { LoginKind } from './logins/login.entity.js';

/** Who makes a request, whatever the credential was. */
export interface Principal {
  readonly account: Account;
  /** Id of the login that the credential comes from. */
  readonly sid: string;
  readonly kind: LoginKind;
}

const principals = new WeakMap<FastifyRequest, Principal | null>();

/** `undefined` where nobody has looked yet, `null` where there are no credentials. */
export function principalOf(request: FastifyRequest): Principal | null | undefined {
  return principals.get(request);
}

export function rememberPrincipal(request: FastifyRequest, principal: Principal | null): void {
  principals.set(request, principal);
}

/** The request behind a call, over REST and over GraphQL, whose context is `{ req }`. */
export function requestOf(context: ExecutionContext): FastifyRequest {
  return isGraphQL(context)
    ? GqlExecutionContext.create(context).getContext<{ req: FastifyRequest }>().req
    : context.switchToHttp().getRequest<FastifyRequest>();
}

export const isGraphQL = (context: ExecutionContext): boolean => context.getType<string>() === 'graphql';
