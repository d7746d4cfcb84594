import type { Reply } from './api.js';

/** Runs `make` with 0, 1, 2 … at the same time. */
export const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/**
 * Sends a request, again after each 503, at most three times, as clients do: on a busy machine, some of many concurrent
 * writes wait too long.
 */
export async function patiently(send: () => Promise<Reply>, attempts = 3): Promise<Reply> {
  const reply = await send();
  return reply.status === 503 && attempts > 1 ? patiently(send, attempts - 1) : reply;
}
