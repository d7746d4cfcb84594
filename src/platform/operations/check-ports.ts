import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';

/**
 * Rejects if the ports of the service cannot be used. It runs before the migrations: the schema must not change for
 * a service that does not start, for example next to an older one.
 *
 * @param reserved a port of {@link reservePort}
 */
export async function checkPorts(
  { host, port, metricsHost, metricsPort }: Config,
  reserved?: number,
): Promise<void> {
  if (port !== reserved) await bind(port, host);
  if (metricsPort === undefined) return;
  await bind(metricsPort, metricsHost).catch((error: unknown) => {
    throw metricsPortFault(error);
  });
}

export const metricsPortFault = (error: unknown): ConfigError =>
  new ConfigError(`METRICS_HOST and METRICS_PORT cannot be used: ${(error as Error).message}`, {
    cause: error,
  });

/** Takes a free port until it is released, right before the service listens there. */
export async function reservePort(host: string): Promise<{ port: number; release: () => void }> {
  const server = createServer();
  await once(server.listen(0, host), 'listening');
  return { port: (server.address() as AddressInfo).port, release: () => server.close() };
}

async function bind(port: number, host: string): Promise<void> {
  const server = createServer();
  await once(server.listen(port, host), 'listening');
  await once(server.close(), 'close');
}
