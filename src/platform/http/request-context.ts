import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';

/** What is known of a request wherever it is handled. */
type RequestContext = Pick<FastifyRequest, 'id' | 'ip' | 'headers'>;

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs the handling of a request, whose log lines all get the request's id. */
export const runWithRequest = <T>(request: RequestContext, work: () => T): T => requests.run(request, work);

/** The current request; `undefined` in background work and commands. */
export const currentRequest = (): RequestContext | undefined => requests.getStore();

/** The fields of each log line. */
export function requestFields(): { requestId?: string } {
  const requestId = currentRequest()?.id;
  return requestId === undefined ? {} : { requestId };
}
