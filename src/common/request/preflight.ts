import type { FastifyRequest } from 'fastify';

/** A CORS preflight as the Fetch standard defines it; any other OPTIONS is a method like the rest. */
export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;
