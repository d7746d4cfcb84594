import type { Socket } from 'node:net';
import type { Client, ClientConfig } from 'pg';

/**
 * Does not wait for ever for a server that has fallen silent: when a query is under way and nothing has come
 * for a while, the connection is cut, so that the query fails and the pool forgets the connection. (The
 * `query_timeout` of `pg` takes a timer for each query, and keeps the connection that hangs.)
 *
 * @param Base what it is otherwise
 * @param patience from the last byte to or from the server, in milliseconds
 */
export function impatientClient(Base: typeof Client, patience: number): typeof Client {
  return class ImpatientClient extends Base {
    constructor(config?: ClientConfig) {
      super(config);
      this.once('connect', () => {
        const { connection } = this as unknown as { connection: { stream: Socket } };
        connection.stream.setTimeout(patience);
        // Each time: a callback of `setTimeout` is called once, and would be used up while the connection idles.
        connection.stream.on('timeout', () => {
          const { _activeQuery: query } = this as unknown as { _activeQuery: unknown };
          if (query) connection.stream.destroy();
        });
      });
    }
  };
}
