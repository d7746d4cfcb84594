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
  /** Chooses the scenario of each request, for a mix of several. */
  readonly next?: () => Scenario;
  /** The minimum ratio. */
  readonly goal?: { readonly SQLite?: number; readonly PostgreSQL?: number };
}

const CONNECTIONS = 32;

/** Loads a server for some seconds. @returns requests per second */
export async function load(url: string, scenario: Scenario, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => {
          const { method = 'GET', path, body, headers } = scenario.next?.() ?? scenario;
          return {
            ...request,
            method,
            path: path(),
            headers: { ...(body && { 'content-type': 'application/json' }), ...headers?.() },
            ...(body && { body: body() }),
          };
        },
      },
    ],
  });
  // autocannon counts 304 as a redirect, and not as a success.
  const ok = result['2xx'] + result['3xx'];
  if (result.non2xx > result['3xx'] || result.errors > 0 || ok === 0) {
    throw new Error(
      `${scenario.name}: ${result.non2xx} rejections, ${result.errors} errors, ${ok} responses`,
    );
  }
  return ok / result.duration;
}
