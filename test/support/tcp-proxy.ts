import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a database that can cut or silence connections while the database itself works. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.accept(client));
  private silent = false;

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
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.on('data', (chunk) => {
        if (!this.silent) other.write(chunk);
      });
      if (this.silent) socket.pause();
    }
  }
}
