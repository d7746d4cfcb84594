import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** PostgreSQL's message `ReadyForQuery`, outside of a transaction: the last one of a handshake. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** A proxy to a database that can cut or silence connections while the database itself works. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.accept(client));
  private silent = false;
  private holdsReady = false;
  private readonly held = new Map<Socket, { upstream: Socket; chunks: Buffer[] }>();

  private constructor(private readonly target: URL) {}

  /** @param url address of a server @returns the proxy, and the same address through it */
  static async to(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const target = new URL(url);
    const proxy = new TcpProxy(target);
    await proxy.listen(0);
    const through = new URL(url);
    through.port = String(proxy.port);
    through.hostname = '127.0.0.1';
    return { proxy, url: through.href };
  }

  /** Breaks every connection, and rejects new ones. */
  async cut(): Promise<void> {
    this.port = this.address();
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Keeps every connection and accepts new ones, but transfers nothing. */
  silence(): void {
    this.silent = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Keeps the end of each handshake, and what follows it: the client does not know that its connection is open. */
  holdConnections(): void {
    this.holdsReady = true;
  }

  /** Waits until the server has ended the held connections, then sends what was held, as one chunk for each. */
  async releaseEndedConnections(): Promise<void> {
    this.holdsReady = false;
    for (const [client, { upstream, chunks }] of this.held) {
      if (!upstream.closed) await once(upstream, 'close');
      client.end(Buffer.concat(chunks));
    }
    this.held.clear();
  }

  async restore(): Promise<void> {
    this.silent = false;
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) await this.listen(this.port);
  }

  async close(): Promise<void> {
    if (this.server.listening) await this.cut();
  }

  private port = 0;

  private address(): number {
    return (this.server.address() as { port: number }).port;
  }

  private listen(port: number): Promise<void> {
    return new Promise((resolve) => {
      this.server.listen(port, '127.0.0.1', () => {
        this.port = this.address();
        resolve();
      });
    });
  }

  private accept(client: Socket): void {
    const upstream = connect(Number(this.target.port || 5432), this.target.hostname);
    const isNewWhileHeld = this.holdsReady;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        if (!this.held.has(other)) other.destroy();
      });
      socket.on('data', (chunk) => {
        if (this.silent) return;
        if (isNewWhileHeld && socket === upstream) this.hold(client, upstream, chunk);
        else other.write(chunk);
      });
      if (this.silent) socket.pause();
    }
  }

  private hold(client: Socket, upstream: Socket, chunk: Buffer): void {
    const held = this.held.get(client);
    if (held) held.chunks.push(chunk);
    else if (this.holdsReady && chunk.subarray(-READY.length).equals(READY)) {
      this.held.set(client, { upstream, chunks: [chunk] });
    } else client.write(chunk);
  }
}
