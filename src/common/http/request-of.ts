import type { ExecutionContext } from '@nestjs/common';
import { type GqlContextType, GqlExecutionContext } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';

/** The request behind a call, over REST and over GraphQL. */
export function requestOf(context: ExecutionContext): FastifyRequest {
  return isGraphQL(context)
    ? GqlExecutionContext.create(context).getContext<{ req: FastifyRequest }>().req
    : context.switchToHttp().getRequest<FastifyRequest>();
}

export const isGraphQL = (context: ExecutionContext): boolean =>
  context.getType<GqlContextType>() === 'graphql';
