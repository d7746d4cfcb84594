import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import { HttpServer } from './test-server.ts';
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
export class Receiver extends HttpServer {
  readonly delivered: Delivered[] = [];
  behaviour: Behaviour = respond(204);

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

  /** Waits for a number of requests to a path, and returns all of them. */
  async at(path: string, count: number): Promise<Delivered[]> {
    const own = () => this.delivered.filter((each) => each.path === path);
    await until(`${count} requests have arrived at ${path}`, () => own().length >= count);
    return own();
  }

  protected listener(): RequestListener {
    return (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { headers, url = '' } = request;
        const delivered = { headers, body: Buffer.concat(chunks).toString(), path: url };
        this.delivered.push(delivered);
        this.behaviour(response, delivered);
      });
    };
  }
}
