import './require-node.js';
import cluster from 'node:cluster';
import type { Logger } from 'nestjs-pino';
import { createApp } from './app.factory.js';
import { compactHeap } from './common/lifecycle/compact-heap.js';
import { stopOnSignals } from './common/lifecycle/stop-on-signals.js';
import { explainStartFailure } from './common/lifecycle/start-failure.js';
import { Supervisor } from './common/lifecycle/supervisor.js';
import { createLogger } from './common/logging/create-logger.js';
import type { Config } from './config/config.js';
import { loadConfig } from './config/load-config.js';
import { migrate } from './database/migrate.js';
import { untilReachable } from './database/until-reachable.js';

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const logger = createLogger(config);
  if (config.workers > 1 && cluster.isPrimary) await supervise(config, logger);
  else await serve(config, logger);
}

async function serve(config: Config, logger: Logger): Promise<void> {
  const app = await createApp(config);
  stopOnSignals(app);
  compactHeap();
  await app.listen(config.port, config.host);
  if (cluster.isPrimary) announce(config, logger, await app.getUrl());
}

/** Migrates once, for all workers, and then only looks after them. */
async function supervise(config: Config, logger: Logger): Promise<void> {
  if (config.migrateAtStart) await untilReachable(() => migrate(config), logger);
  let url = '';
  cluster.on('listening', (_worker, { address, port }) => (url = `http://${address}:${port}`));
  await new Supervisor(config.workers, { MIGRATE: 'off' }, logger).start();
  announce(config, logger, url);
}

function announce({ production, writeAccess, workers, store }: Config, logger: Logger, url: string): void {
  if (production && writeAccess === 'open') {
    logger.warn('WRITE_ACCESS is open: anyone who reaches this service may change its data', 'Service');
  }
  const data =
    store.kind === 'sqlite' ? `SQLite in ${store.directory}` : `PostgreSQL at ${describeAddress(store.url)}`;
  const processes = workers > 1 ? `, ${workers} workers` : '';
  logger.log(`Ready on ${url}, data in ${data}${processes}, reference at /docs`, 'Service');
}

function describeAddress(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

start().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(1);
});
