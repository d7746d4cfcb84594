import type { FastifyRequest } from 'fastify';
import type { Account } from '../auth/accounts/index.js';

/** What resolvers see of the request they run for: a new object for each. */
export interface GraphqlContext {
  readonly request: FastifyRequest;
  /** The account whose token the request carries; null without one. */
  readonly user: Account | null;
}
