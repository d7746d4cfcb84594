import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

/** A received request. */
export interface Delivered {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly path: string;
}

type Behaviour = (response: ServerResponse, delivered: Delivered) => void;

export const respond =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end();
  };

/** A server of somebody else, which keeps what it receives. */
export class Receiver {
  readonly delivered: Delivered[] = [];
  behaviour: Behaviour = respond(204);
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { headers, url = '' } = request;
        const delivered = { headers, body: Buffer.concat(chunks).toString(), path: url };
        this.delivered.push(delivered);
        this.behaviour(response, delivered);
      });
    });
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new Receiver(server);
  }

  /** Responds to the requests to a path with a status, and to others with 204. */
  respondAt(path: string, status: number): void {
    this.behaviour = (response, delivered) =>
      respond(delivered.path === path ? status : 204)(response, delivered);
  }

  /** Keeps the requests to a path open, and responds to others with 204. @returns the open responses, in their order */
  hold(path: string): ServerResponse[] {
    const open: ServerResponse[] = [];
    this.behaviour = (response, delivered) => {
      if (delivered.path === path) open.push(response);
      else respond(204)(response, delivered);
    };
    return open;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits for a number of requests to a path, and returns all of them. */
  async at(path: string, count: number): Promise<Delivered[]> {
    const own = () => this.delivered.filter((each) => each.path === path);
    await until(`${count} requests have arrived at ${path}`, () => own().length >= count);
    return own();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
