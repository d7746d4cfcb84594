import { type IncomingMessage, type RequestListener, Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Upgrades } from './upgrades.js';

/** How long idle connections stay open after the server stops listening, in milliseconds. */
const GRACE = 500;

/** The interval between two checks for connections that have become idle, in milliseconds. */
const INTERVAL = 50;

/**
 * A server that checks upgrade requests before any of its listeners gets them, and that closes without resetting requests:
 * Node closes idle connections at once, while their clients may be sending a request.
 */
export class GuardedServer extends Server {
  /** The checks. */
  upgrades: Upgrades | undefined;
  private readonly connected = new Set<Socket>();
  private isClosing = false;

  constructor(options: ServerOptions, handler: RequestListener) {
    super(
      {
        ...options,
        // Clients may offer HTTP/2 (`Upgrade: h2c`) with any request, which is handled normally (RFC 9110, section 7.8).
        shouldUpgradeCallback: ({ headers }) =>
          this.listenerCount('upgrade') > 0 && headers.upgrade?.toLowerCase() === 'websocket',
      },
      handler,
    );
    this.on('connection', (socket: Socket) => {
      // Node keeps an address that was read: a request may ask for that of a connection that is closed meanwhile.
      void socket.remoteAddress;
      this.connected.add(socket);
      socket.once('close', () => this.connected.delete(socket));
    });
  }

  override emit(event: string, ...values: unknown[]): boolean {
    if (event !== 'upgrade' || !this.upgrades) return super.emit(event, ...values);
    const [request, socket, head] = values as [IncomingMessage, Duplex, Buffer];
    void this.upgrades.pass(request, socket, head, (...upgrade) => super.emit(event, ...upgrade));
    return true;
  }

  /** Called by `close`. */
  override closeIdleConnections(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    const closedAt = performance.now();
    const timer = setInterval(() => {
      if (performance.now() - closedAt < GRACE) return;
      super.closeIdleConnections();
      // Browsers open connections in advance, which are not idle for Node: it waits for their first request.
      for (const socket of this.connected) if (socket.bytesRead === 0) socket.destroy();
    }, INTERVAL).unref();
    this.once('close', () => clearInterval(timer));
  }
}
