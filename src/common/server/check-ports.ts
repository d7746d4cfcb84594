import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../../config/config.js';
import { ConfigError } from '../../config/config-error.js';

/**
 * Rejects if the ports of the service cannot be used. It runs before the migrations: the schema must not change for
 * a service that does not start, for example next to an older one.
 */
export async function checkPorts({ host, port, metricsHost, metricsPort }: Config): Promise<void> {
  await bind(port, host);
  if (metricsPort === undefined) return;
  await bind(metricsPort, metricsHost).catch((error: unknown) => {
    throw metricsPortFault(error);
  });
}

export const metricsPortFault = (error: unknown): ConfigError =>
  new ConfigError(`METRICS_HOST and METRICS_PORT cannot be used: ${(error as Error).message}`, {
    cause: error,
  });

async function bind(port: number, host: string): Promise<void> {
  const server = createServer();
  await once(server.listen(port, host), 'listening');
  await once(server.close(), 'close');
}
