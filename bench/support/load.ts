import autocannon from 'autocannon';

export interface Scenario {
  readonly name: string;
  readonly method?: 'GET' | 'POST' | 'PATCH';
  /** Path of one request; called for each. */
  readonly path: () => string;
  /** The path at the hand-written server, if it differs. */
  readonly pathByHand?: () => string;
  readonly body?: () => string;
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The minimum ratio. */
  readonly goal?: { readonly SQLite?: number; readonly PostgreSQL?: number };
}

const CONNECTIONS = 32;

/** Loads a server for some seconds. @returns requests per second */
export async function load(
  url: string,
  { method = 'GET', path, body, headers }: Scenario,
  seconds: number,
): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      {
        method,
        setupRequest: (request) => ({
          ...request,
          path: path(),
          headers: { ...(body && { 'content-type': 'application/json' }), ...headers?.() },
          ...(body && { body: body() }),
        }),
      },
    ],
  });
  // autocannon counts 304 as a redirect, and not as a success.
  const ok = result['2xx'] + result['3xx'];
  if (result.non2xx > result['3xx'] || result.errors > 0 || ok === 0) {
    throw new Error(
      `${method} ${path()}: ${result.non2xx} rejections, ${result.errors} errors, ${ok} responses`,
    );
  }
  return ok / result.duration;
}
