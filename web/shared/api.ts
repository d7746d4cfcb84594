import createClient from 'openapi-fetch';
import type { components, paths } from '../../examples/client/api.js';

export type Schemas = components['schemas'];

/** A call that failed, with a sentence for people. */
export class ApiError extends Error {
  constructor(
    /** 0 if the service does not respond. */
    readonly status: number,
    readonly code: string | undefined,
    message: string,
    readonly details: readonly { field: string; message: string }[] = [],
  ) {
    super(message);
  }
}

const NO_RESPONSE = 'The service does not respond. Try again in a moment.';

let csrfToken = '';
let onEnd: () => void = () => undefined;

/** Authenticates changes from now on. */
export const setCsrfToken = (token: string): void => void (csrfToken = token);

/** @param listener called when a call finds that the session has ended */
export const whenSessionEnds = (listener: () => void): void => void (onEnd = listener);

/** The root of the service, which a proxy may serve below a path: the scripts are in `app/assets` of it. */
const script = import.meta.url;
export const ROOT = new URL('../../', script).href;

/** The REST API with the session of the browser, by paths and types of the reference. */
export const api = createClient<paths>({ baseUrl: ROOT });
api.use({
  onRequest: ({ request }) => {
    if (csrfToken !== '') request.headers.set('x-csrf-token', csrfToken);
  },
  onError: () => new ApiError(0, undefined, NO_RESPONSE),
});

interface Outcome<Data> {
  data?: Data | undefined;
  error?: unknown;
  response: Response;
}

/**
 * The response to a call.
 *
 * @throws ApiError if it is not a success
 */
export async function sent<Data>(call: Promise<Outcome<Data>>): Promise<{ data: Data; response: Response }> {
  const { data, error, response } = await call;
  if (response.ok) return { data: data as Data, response };
  const failure = toApiError(response.status, error);
  if (failure.status === 401 && failure.code === 'UNAUTHENTICATED' && csrfToken !== '') onEnd();
  throw failure;
}

/** The body of the response to a call. @throws ApiError if it is not a success */
export const read = async <Data>(call: Promise<Outcome<Data>>): Promise<Data> => (await sent(call)).data;

/** An error page of a proxy has no message. */
function toApiError(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: string | { code: string; message: string; details?: [] } };
  if (error === undefined) return new ApiError(status, undefined, NO_RESPONSE);
  return typeof error === 'string'
    ? new ApiError(status, undefined, `${error}.`)
    : new ApiError(status, error.code, `${error.message}.`, error.details);
}

/** What went wrong, for people. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : 'Something went wrong. Reload the page.';
