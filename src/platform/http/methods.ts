import type { FastifyRequest, RouteOptions } from 'fastify';

/** The methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

const WITHOUT_BODY = new Set(['GET', 'HEAD']);

export const isSafe = ({ method }: { readonly method: string }): boolean => SAFE_METHODS.has(method);

/** Whether Fastify reads the bodies of requests to a route. */
export const hasBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((name) => !WITHOUT_BODY.has(name));

/** Whether it is a CORS preflight (Fetch standard); any other OPTIONS is a normal request. */
export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;
