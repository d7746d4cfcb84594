import type { FastifyRequest } from 'fastify';

/** Whether it is a CORS preflight (Fetch standard); any other OPTIONS is a normal request. */
export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;
