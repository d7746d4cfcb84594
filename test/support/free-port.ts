import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, which could take one before it is used. */
const RANGE = { first: 20_000, count: 12_000 };

/** A port that nobody listens on, for who has to know it beforehand; another one for each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = RANGE.first + Math.floor(Math.random() * RANGE.count);
    if (!given.has(port) && (await isFree(port))) {
      given.add(port);
      return port;
    }
  }
}

const given = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
