import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, CallingAccount } from '../access/index.js';
import { GraphQLError } from 'graphql';
import type { AppError } from '../http/errors/errors.js';
import { toAppError } from '../http/errors/to-app-error.js';
import { checkBody } from './request-body.js';

/** The context of resolvers, and of guards that use `GqlExecutionContext`: a new object for each operation. */
export interface GraphqlContext {
  readonly req: FastifyRequest;
  readonly res: FastifyReply;
  /** The account of the request's credential; null without one. */
  readonly user: CallingAccount | null;
}

/** An error here has its own HTTP status, and no operation is executed. */
export const createContext =
  (authenticator: Authenticator) =>
  async (req: FastifyRequest, res: FastifyReply): Promise<GraphqlContext> => {
    try {
      if (req.method === 'POST') checkBody(req.body);
      const principal = await authenticator.authenticate(req);
      return { req, res, user: principal?.account ?? null };
    } catch (error) {
      throw withStatus(toAppError(error));
    }
  };

/** Apollo uses status and headers of `extensions.http`. */
function withStatus(error: AppError): GraphQLError {
  const headers = new Map(Object.entries({ ...error.defaultHeaders, ...error.headers }));
  const http = { status: error.getStatus(), headers };
  return new GraphQLError(error.message, { originalError: error, extensions: { http } });
}
