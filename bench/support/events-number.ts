import type { Server } from './server.ts';

/**
 * Waits until all events have their position. The service also numbers those of the hand-written server, which would
 * otherwise take time from the next measurement.
 */
export async function numberEvents({ url }: Server): Promise<void> {
  const response = await fetch(`${url}/v1/events?limit=1`);
  if (!response.ok) throw new Error(`The feed got ${response.status}`);
  await response.arrayBuffer();
}
