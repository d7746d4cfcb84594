import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../auth/accounts/index.js';

/** The context of resolvers, and of the guards that `GqlExecutionContext` serves: a new object for each operation. */
export interface GraphqlContext {
  readonly req: FastifyRequest;
  readonly res: FastifyReply;
  /** The account whose credential the request carries; null without one. */
  readonly user: Account | null;
}
