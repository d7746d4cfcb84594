import { AsyncLocalStorage } from 'node:async_hooks';

const requestIds = new AsyncLocalStorage<string>();

/** Runs what handles a request: every log line that it writes carries the id of the request. */
export const runWithRequestId = <T>(id: string, work: () => T): T => requestIds.run(id, work);

/** The id of the request that is being handled. */
export const currentRequestId = (): string | undefined => requestIds.getStore();

/** For each log line. */
export function requestFields(): { requestId?: string } {
  const requestId = currentRequestId();
  return requestId === undefined ? {} : { requestId };
}
