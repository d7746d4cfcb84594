import { callbackify } from 'node:util';
import { Client } from 'pg';
import { PostgresClient } from './postgres-client.js';
import type { Primary } from './primary.js';

type Callback = (error: Error | null) => void;

/**
 * A connection to the current primary, chosen when it is opened. The addresses of the servers differ in
 * host and port only.
 */
export function primaryClient(primary: Primary): typeof Client {
  return class PrimaryClient extends PostgresClient {
    private isEnded = false;

    override connect(): Promise<Client>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<Client> | void {
      if (!callback) return this.connectToPrimary();
      callbackify(() => this.connectToPrimary())(callback);
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      this.isEnded = true;
      return callback ? super.end(callback) : super.end();
    }

    private async connectToPrimary(): Promise<Client> {
      const server = await primary.find();
      // The pool may close the connection during the search.
      if (this.isEnded || this.connection.stream.destroyed) throw new Error('Connection terminated');
      const { host, port } = new Client(server.url);
      Object.assign(this, { host, port });
      primary.add(this, server);
      return super.connect();
    }
  };
}
