import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../../common/http/request-of.js';
import type { Account } from '../accounts/index.js';
import { type Principal, principalOf } from './principal.js';

/** The caller: an account and its login. `null` where the handler is open and credentials were not checked. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal | null => principalOf(requestOf(context)),
);

/** The calling account, over REST and GraphQL. `null` where the handler is open and credentials were not checked. */
export const CurrentAccount = createParamDecorator(
  (_: unknown, context: ExecutionContext): Account | null => requestOf(context).user ?? null,
);
