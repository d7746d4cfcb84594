import { createServer } from 'node:net';

/** Below the ephemeral ports, because the system could assign one of those before the test uses it. */
const RANGE = { first: 20_000, count: 12_000 };

/** Returns a free port, for tests that need the number before they listen; each call returns another one. */
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
