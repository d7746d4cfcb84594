import { Server } from 'node:http';

/** How long idle connections stay open after the server stops listening, in milliseconds. */
const GRACE = 500;

/** The interval between two checks for connections that have become idle, in milliseconds. */
const INTERVAL = 50;

/**
 * A server that closes without resetting requests: Node closes idle connections at once, while their clients
 * may be sending a request.
 */
export class DrainingServer extends Server {
  private isClosing = false;

  /** Called by `close`. */
  override closeIdleConnections(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    const closedAt = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - closedAt >= GRACE) super.closeIdleConnections();
    }, INTERVAL).unref();
    this.once('close', () => clearInterval(timer));
  }
}
