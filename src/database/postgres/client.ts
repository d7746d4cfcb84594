import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

export interface PostgresClientConfig extends ClientConfig {
  /**
   * How long the server may be silent while a query runs, in milliseconds: then the connection is closed, so that the
   * query fails and the pool drops the connection. (`query_timeout` needs a timer for each query, and the pool keeps
   * the connection.)
   */
  readonly silenceTimeout?: number;
}

/** A connection that detects a silent server, and whose loss does not end the process. */
export class PostgresClient extends Client {
  private readonly socket: Socket;
  private isBusy = false;

  constructor(config: PostgresClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
    // While a pool hands over a connection, nothing else listens to its errors. Its next query fails.
    this.on('error', () => undefined);
    this.on('drain', () => (this.isBusy = false));
    if (config.silenceTimeout === undefined) return;
    socket.setTimeout(config.silenceTimeout).on('timeout', () => {
      if (this.isBusy) this.cut();
    });
  }

  override query(statement: any, values?: any, callback?: any): any {
    this.isBusy = true;
    return super.query(statement, values, callback);
  }

  /** Sends queries in one packet, if the client has the option `pipeline`. @returns their results */
  queryTogether<Result>(queries: readonly (() => Promise<Result>)[]): Promise<Result[]> {
    this.socket.cork();
    try {
      return Promise.all(queries.map((query) => query()));
    } finally {
      this.socket.uncork();
    }
  }

  get isCut(): boolean {
    return this.socket.destroyed;
  }

  /** Closes the connection at once. `end` would wait for a server that may not respond. */
  cut(): void {
    this.socket.destroy();
  }
}
