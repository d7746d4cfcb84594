import { once } from 'node:events';
import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';

/** A reverse proxy that serves a service below a path, which it takes off each request. Anything else is 404. */
export class StrippingProxy {
  /** The port of the service. */
  target = 0;
  /** The requests that were not below the path. */
  readonly missed: string[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly path: string,
  ) {
    server.on('connection', (socket) => this.sockets.add(socket));
    server.on('request', (request, response) => {
      const url = this.strip(request);
      if (url === undefined) {
        response.writeHead(404).end('Outside of the service');
        return;
      }
      const { method, headers } = request;
      const passed = sendRequest({ port: this.target, path: url, method, headers }, (reply) => {
        response.writeHead(reply.statusCode!, reply.rawHeaders);
        reply.pipe(response);
      });
      passed.on('error', () => response.destroy());
      request.pipe(passed);
    });
  }

  /** @param path such as `/api` */
  static async start(path: string): Promise<StrippingProxy> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new StrippingProxy(server, path);
  }

  /** The address at which the service is, without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.path}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server.close(), 'close');
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private strip({ url = '' }: IncomingMessage): string | undefined {
    if (url.startsWith(`${this.path}/`)) return url.slice(this.path.length);
    if (url === this.path) return '/';
    this.missed.push(url);
    return undefined;
  }
}
