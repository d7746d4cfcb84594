import { AsyncLocalStorage } from 'node:async_hooks';

const requestIds = new AsyncLocalStorage<string>();

/** Runs the handling of a request, whose log lines all get the request's id. */
export const runWithRequestId = <T>(id: string, work: () => T): T => requestIds.run(id, work);

/** The id of the current request. */
export const currentRequestId = (): string | undefined => requestIds.getStore();

/** The fields of each log line. */
export function requestFields(): { requestId?: string } {
  const requestId = currentRequestId();
  return requestId === undefined ? {} : { requestId };
}
