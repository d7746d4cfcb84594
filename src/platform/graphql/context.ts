import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallingAccount } from '../access/index.js';

/** The context of resolvers, and of guards that use `GqlExecutionContext`: a new object for each operation. */
export interface GraphqlContext {
  readonly req: FastifyRequest;
  readonly res: FastifyReply;
  /** The account of the request's credential; null without one. */
  readonly user: CallingAccount | null;
}
