import type { Logger } from 'nestjs-pino';
import { createApp } from './app.factory.js';
import { stopOnSignals } from './common/lifecycle/stop-on-signals.js';
import { createLogger } from './common/logging/create-logger.js';
import type { Config } from './config/config.js';
import { loadConfig } from './config/load-config.js';

/** Serves until a signal comes. */
export async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const app = await createApp(config);
  stopOnSignals(app);
  await app.listen(config.port, config.host);
  announce(config, createLogger(config), await app.getUrl());
}

function announce({ production, writeAccess, store }: Config, logger: Logger, url: string): void {
  if (production && writeAccess === 'open') {
    logger.warn('WRITE_ACCESS is open: anyone who reaches this service may change its data', 'Service');
  }
  const data =
    store.kind === 'sqlite' ? `SQLite in ${store.directory}` : `PostgreSQL at ${describeAddress(store.url)}`;
  logger.log(`Ready on ${url}, data in ${data}, reference at /docs`, 'Service');
}

function describeAddress(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}
