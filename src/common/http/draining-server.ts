import { Server } from 'node:http';

/** How long idle connections stay open after listening has ended, in milliseconds. */
const GRACE = 500;

/** Between two looks for connections that have become idle since, in milliseconds. */
const INTERVAL = 50;

/**
 * A server that closes without resetting requests: Node's own closes idle connections at once, while their clients
 * may be sending the first or the next request.
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
