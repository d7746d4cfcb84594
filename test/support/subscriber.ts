import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

/** What an operation has received until now. */
export interface Received {
  readonly results: any[];
  readonly errors: any[];
}

/** A client of subscriptions over a WebSocket, which does not connect again. */
export class Subscriber {
  /** With which code the connection was closed. */
  closed: number | undefined;
  private readonly client: Client;

  /** @param url of the service */
  constructor(url: string, connectionParams: Record<string, string> = {}) {
    this.client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams,
      on: { closed: (event) => (this.closed = (event as CloseEvent).code) },
    });
  }

  start(query: string, variables: Record<string, unknown> = {}): Received {
    const [results, errors]: [any[], any[]] = [[], []];
    this.client.subscribe(
      { query, variables },
      {
        next: (result) => results.push(result),
        error: (error) => errors.push(error),
        complete: () => undefined,
      },
    );
    return { results, errors };
  }

  async end(): Promise<void> {
    await this.client.dispose();
  }
}
