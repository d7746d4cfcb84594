import { type RequestListener, Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long idle connections stay open after the server stops listening, in milliseconds. */
const GRACE = 500;

/** How long to wait for what has arrived, while more follows, in milliseconds. */
const SETTLING = 2000;

/** The interval between two checks for connections that have become idle, in milliseconds. */
const INTERVAL = 50;

/**
 * A server that closes without resetting requests: Node closes idle connections at once, while their clients may be sending
 * a request, and on a busy process without reading what has arrived. What is no HTTP gets Node's own response.
 */
export class GuardedServer extends Server {
  private readonly connected = new Set<Socket>();
  /** How many connections were accepted, and how many requests were read. */
  private readonly arrived = { connections: 0, requests: 0 };
  private stopping: Promise<void> | undefined;

  constructor(options: ServerOptions, handler: RequestListener) {
    super(
      {
        ...options,
        // A gateway of a team listens for all upgrades, but clients may offer HTTP/2 (`h2c`) with any request.
        shouldUpgradeCallback: ({ headers }) =>
          this.listenerCount('upgrade') > 0 && headers.upgrade?.toLowerCase() === 'websocket',
      },
      handler,
    );
    this.on('connection', (socket: Socket) => {
      // Node keeps an address that was read: a request may ask for that of a connection that is closed meanwhile.
      void socket.remoteAddress;
      this.arrived.connections++;
      this.connected.add(socket);
      socket.once('close', () => this.connected.delete(socket));
    });
  }

  override emit(event: string, ...values: unknown[]): boolean {
    if (event === 'request') this.arrived.requests++;
    const socket = values[1] as Socket;
    // Node has no error listener on this socket: an error of a disconnected client would end the process.
    if (event === 'upgrade') socket.on('error', () => undefined);
    if (event === 'clientError') return this.leaveToNode(socket);
    return super.emit(event, ...values);
  }

  /** Keeps an error of the parser from Fastify, whose listener writes into responses that have begun. @returns false */
  private leaveToNode(socket: Socket): false {
    // Browsers open connections in advance: they would take a 408 as the response to their first request.
    if (socket.bytesRead === 0) socket.destroy();
    return false;
  }

  override close(callback?: (error?: Error) => void): this {
    void this.closeAfterwards(callback);
    return this;
  }

  private async closeAfterwards(callback?: (error?: Error) => void): Promise<void> {
    await this.stopListening();
    super.close(callback);
  }

  /**
   * Accepts the connections that have arrived, and then no more: the system would reset them. Call it before `close`:
   * while Fastify closes, it closes the connection of each request, whose client would open another one.
   */
  stopListening(): Promise<void> {
    return (this.stopping ??= this.settleAndStop());
  }

  private async settleAndStop(): Promise<void> {
    await this.settle('connections');
    super.close();
    void this.closeUnused();
  }

  /** Called by Fastify and Node right before they close the server, which is too early. */
  override closeIdleConnections(): void {}

  private async closeUnused(): Promise<void> {
    const controller = new AbortController();
    this.once('close', () => controller.abort());
    const options = { ref: false, signal: controller.signal };
    try {
      for (let pause = GRACE; ; pause = INTERVAL) {
        await sleep(pause, undefined, options);
        await this.settle('requests');
        super.closeIdleConnections();
        // Browsers open connections in advance, which are not idle for Node: it waits for their first request.
        for (const socket of this.connected) if (socket.bytesRead === 0) socket.destroy();
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }

  /**
   * Waits until the event loop has turned twice without a new connection or request: what had arrived has been read.
   * The first turn accepts a connection, and the second one reads its request.
   */
  private async settle(kind: 'connections' | 'requests'): Promise<void> {
    const end = performance.now() + SETTLING;
    let seen: number;
    do {
      seen = this.arrived[kind];
      await nextTurn();
      await nextTurn();
    } while (this.arrived[kind] !== seen && performance.now() < end);
  }
}

/** Resolves after the event loop has read what has arrived. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
