import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request does, for the audit log, if its route does not say that: `mutation createPost`. */
    action?: string;
    /** The acting account of a request without a credential, such as a login. `Changes.record` sets it. */
    actorId?: number;
  }
}

/** What is known of a request wherever it is handled. */
type RequestContext = Pick<FastifyRequest, 'id' | 'ip' | 'headers'> & Partial<FastifyRequest>;

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs the handling of a request, whose log lines all get the request's id. */
export const runWithRequest = <T>(request: RequestContext, work: () => T): T => requests.run(request, work);

/** The current request; `undefined` in background work and commands. */
export const currentRequest = (): RequestContext | undefined => requests.getStore();

/** The account that acts in the current request; `undefined` while it is unknown. */
export function currentActor(): number | undefined {
  const request = currentRequest();
  return request?.user?.id ?? request?.actorId;
}

/** The fields of each log line. */
export function requestFields(): { requestId?: string } {
  const requestId = currentRequest()?.id;
  return requestId === undefined ? {} : { requestId };
}
