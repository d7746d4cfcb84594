import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { noteFailedConnect } from '../failures.js';

export interface PostgresClientConfig extends ClientConfig {
  /**
   * How long the server may be silent while a query runs, in milliseconds: then the connection is closed, so that the
   * query fails and the pool drops the connection. (`query_timeout` needs a timer for each query, and the pool keeps
   * the connection.)
   */
  readonly silenceTimeout?: number;
  /** Called after each attempt to connect. */
  readonly onAttempt?: (hasFailed: boolean) => void;
}

/** A connection that detects a silent server, and whose loss does not end the process. */
export class PostgresClient extends Client {
  private readonly socket: Socket;
  private readonly onAttempt: PostgresClientConfig['onAttempt'];
  private isBusy = false;
  /** Whether the connection was lost. */
  isLost = false;

  constructor(config: PostgresClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
    this.onAttempt = config.onAttempt;
    // While a pool hands over a connection, nothing else listens to its errors. Its next query fails.
    this.on('error', () => (this.isLost = true));
    this.on('drain', () => (this.isBusy = false));
    if (config.silenceTimeout === undefined) return;
    socket.setTimeout(config.silenceTimeout).on('timeout', () => {
      if (this.isBusy) this.cut();
    });
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    if (!callback) return promisify((then: (error: Error) => void) => this.connect(then))().then(() => this);
    super.connect((error: Error | null) => {
      this.onAttempt?.(Boolean(error));
      if (error) {
        noteFailedConnect(error);
        // After an error of its own, such as a password that the address lacks, the driver keeps the socket open.
        this.cut();
      }
      callback(error!);
    });
  }

  override query(statement: any, values?: any, callback?: any): any {
    this.isBusy = true;
    return super.query(statement, values, callback);
  }

  /** Closes the connection at once. `end` would wait for a server that may not respond. */
  cut(): void {
    this.socket.destroy();
  }
}
