import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { Authenticator } from '../access/index.js';
import type { AppError } from '../http/errors/errors.js';
import { toAppError } from '../http/errors/to-app-error.js';
import type { GraphqlContext } from './context.js';
import { checkBody } from './request-body.js';

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
export function withStatus(error: AppError): GraphQLError {
  const headers = new Map(Object.entries({ ...error.defaultHeaders, ...error.headers }));
  const http = { status: error.status, headers };
  return new GraphQLError(error.message, { originalError: error, extensions: { http } });
}
