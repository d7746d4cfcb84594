import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

/** From the last byte to or from the server, in milliseconds. */
const PATIENCE = 2600;

/**
 * Does not wait for ever for a server that has fallen silent: when a query is under way and nothing has come
 * for a while, the connection is cut, so that the query fails and the pool forgets the connection. (The
 * `query_timeout` of `pg` takes a timer for each query, and keeps the connection that hangs.)
 */
export class ImpatientClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.once('connect', () => {
      const { connection } = this as unknown as { connection: { stream: Socket } };
      connection.stream.setTimeout(PATIENCE, () => {
        const { _activeQuery: query } = this as unknown as { _activeQuery: unknown };
        if (query) connection.stream.destroy();
      });
    });
  }
}
