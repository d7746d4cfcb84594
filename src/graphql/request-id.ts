import { AsyncLocalStorage } from 'node:async_hooks';

const requestIds = new AsyncLocalStorage<string>();

/** Runs the work of a request: Apollo formats errors without passing the request that they belong to. */
export const withRequestId = <T>(id: string, work: () => T): T => requestIds.run(id, work);

/** The id of the request that is being executed, for errors and log lines. */
export const currentRequestId = (): string | undefined => requestIds.getStore();
