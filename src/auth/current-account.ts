import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Account } from './accounts/account.entity.js';
import { type Principal, principalOf, requestOf } from './principal.js';

/** Who calls: an account and its login. `null` where the handler is open and nobody has looked. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal | null => principalOf(requestOf(context)) ?? null,
);

/** The calling account, over REST and GraphQL. `null` where the handler is open and nobody has looked. */
export const CurrentAccount = createParamDecorator(
  (_: unknown, context: ExecutionContext): Account | null => principalOf(requestOf(context))?.account ?? null,
);
