import { AsyncLocalStorage } from 'node:async_hooks';

const requestIds = new AsyncLocalStorage<string>();

/** Runs what handles a request: every log line that it writes carries the id of the request. */
export const runWithRequestId = (id: string, work: () => void): void => requestIds.run(id, work);

/** For each log line. */
export function requestFields(): { requestId?: string } {
  const requestId = requestIds.getStore();
  return requestId === undefined ? {} : { requestId };
}
