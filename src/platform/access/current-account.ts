import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { isGraphQL, requestOf } from '../http/request-of.js';
import { type CallingAccount, type Principal, principalOf } from '../http/principal.js';

/**
 * The calls of fields whose access ignores credentials: `/graphql` has authenticated the request, because its other
 * fields may require an account.
 */
const callsWithoutCaller = new WeakSet<object>();

/** The arguments of the call: each field of GraphQL has its own. */
const callOf = (context: ExecutionContext): object => context.getArgByIndex(3);

/** For the guard: the handler, a field of GraphQL, has no current account. */
export const ignoreCredentials = (context: ExecutionContext): void => {
  callsWithoutCaller.add(callOf(context));
};

const callerOf = (context: ExecutionContext): Principal | null =>
  isGraphQL(context) && callsWithoutCaller.has(callOf(context)) ? null : principalOf(requestOf(context));

/** The caller: an account and its login. `null` where the handler is open and credentials were not checked. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal | null => callerOf(context),
);

/** The calling account, over REST and GraphQL. `null` where the handler is open and credentials were not checked. */
export const CurrentAccount = createParamDecorator(
  (_: unknown, context: ExecutionContext): CallingAccount | null => callerOf(context)?.account ?? null,
);
