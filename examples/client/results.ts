/** What `openapi-fetch` returns. */
interface Result<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The service has rejected a request. */
export class RejectedRequest extends Error {}

/** The data of a response. @throws RejectedRequest with the sentence of the service */
export function dataOf<T>({ data, error, response }: Result<T>): NonNullable<T> {
  if (data !== undefined && data !== null) return data;
  // A proxy in front of the service may send another body.
  const { message = 'no message' } = (error as { error?: { message?: string } } | undefined)?.error ?? {};
  const { pathname } = new URL(response.url);
  throw new RejectedRequest(`${pathname} responded with ${response.status}: ${message}`);
}

/** Prints an error that ends the example as one line. */
export function printErrors(baseUrl: string): void {
  process.on('uncaughtException', (error) => {
    const isUnreachable = error.message === 'fetch failed';
    console.error(isUnreachable ? `No response from ${baseUrl}: ${String(error.cause)}` : error.message);
    process.exit(1);
  });
}
