import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Has a handler answer, unless it has before. @returns the text to send, if any */
export type Handling = (handle: () => unknown) => Promise<string | undefined>;

const handlings = new WeakMap<FastifyRequest, Handling>();

export function rememberHandling(request: FastifyRequest, handling: Handling): void {
  handlings.set(request, handling);
}

/** How the request is to be handled; `undefined` where it has no key, and so is handled as it is. */
export const HandlingOfRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext): Handling | undefined =>
    handlings.get(context.switchToHttp().getRequest<FastifyRequest>()),
);
