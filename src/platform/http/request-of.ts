import { type GqlContextType, GqlExecutionContext } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import type { ExecutionContext } from '@nestjs/common';

/** The request of a handler's call, over REST and GraphQL. */
export function requestOf(context: ExecutionContext): FastifyRequest {
  if (isGraphQL(context)) {
    return GqlExecutionContext.create(context).getContext<{ req: FastifyRequest }>().req;
  }
  return context.switchToHttp().getRequest<FastifyRequest>();
}

export const isGraphQL = (context: ExecutionContext): boolean =>
  context.getType<GqlContextType>() === 'graphql';
