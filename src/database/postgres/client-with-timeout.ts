import type { Socket } from 'node:net';
import type { Client, ClientConfig } from 'pg';

/**
 * Closes connections to a server that does not respond: if a query is running and no data has arrived
 * for a while, the connection is cut, so that the query fails and the pool drops the connection. (The
 * `query_timeout` of `pg` uses a timer for each query, and keeps the connection that hangs.)
 *
 * @param Base the class of the connection
 * @param timeout the time since the last byte to or from the server, in milliseconds
 */
export function clientWithTimeout(Base: typeof Client, timeout: number): typeof Client {
  return class ClientWithTimeout extends Base {
    constructor(config?: ClientConfig) {
      super(config);
      this.once('connect', () => {
        const { connection } = this as unknown as { connection: { stream: Socket } };
        connection.stream.setTimeout(timeout);
        // Set for each query: `setTimeout` calls a callback once, and an idle connection would use it up.
        connection.stream.on('timeout', () => {
          const { _activeQuery: query } = this as unknown as { _activeQuery: unknown };
          if (query) connection.stream.destroy();
        });
      });
    }
  };
}
