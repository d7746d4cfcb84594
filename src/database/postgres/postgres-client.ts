import { Client, type ClientConfig } from 'pg';

const ignore = (): void => undefined;

/**
 * A connection whose loss does not end the process. While a pool hands over a connection, nothing else listens to its
 * errors, and the server may close it at that moment. Its next query fails.
 */
export class PostgresClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', ignore);
  }
}
