import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requestOf } from './request-of.js';

/** Where a request comes from, as far as can be told. */
export interface ClientInfo {
  readonly address: string;
  /** The `User-Agent`, cut at 200 characters; empty without one. */
  readonly agent: string;
}

/** Who is at the other end; behind trusted proxies, whom these say it is. */
export const clientOf = ({ ip, headers }: FastifyRequest): ClientInfo => ({
  // An IPv4 client of a socket that takes both is the same client.
  address: ip.replace(/^::ffff:(?=\d+\.)/i, ''),
  agent: headers['user-agent']?.slice(0, 200) ?? '',
});

/** {@link clientOf} the request, for a handler. */
export const Client = createParamDecorator((_: unknown, context: ExecutionContext): ClientInfo =>
  clientOf(requestOf(context)),
);
