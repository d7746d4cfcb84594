import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An external server that the service calls. */
export interface TestServer {
  /** The settings of the service with which it uses this server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** @param port a free one by default */
  start(port?: number): Promise<this>;
  /** Closes its connections, too. */
  stop(): Promise<void>;
}

/** An HTTP server on this machine. */
export abstract class HttpServer implements TestServer {
  private server!: Server;

  /** It may be started again after a stop. */
  async start(port = 0): Promise<this> {
    this.server = createServer();
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
    this.server.on('request', await this.listener());
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Handles the requests. The server listens when this is called, so that its port is known. */
  protected abstract listener(): RequestListener | Promise<RequestListener>;
}
