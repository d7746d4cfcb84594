import { Logger } from '@nestjs/common';
import { createApp } from './app.factory.js';
import { stopOnSignals } from './common/lifecycle/stop-on-signals.js';
import { explainStartFailure } from './common/lifecycle/start-failure.js';
import type { Config } from './config/config.js';
import { loadConfig } from './config/load-config.js';

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const app = await createApp(config);
  stopOnSignals(app);
  await app.listen(config.port, config.host);

  const logger = new Logger('Service');
  if (config.production && config.writeAccess === 'open') {
    logger.warn('WRITE_ACCESS is open: anyone who reaches this service may change its data');
  }
  logger.log(`Ready on ${await app.getUrl()}, data in ${describeStore(config)}`);
}

function describeStore({ store }: Config): string {
  return store.kind === 'sqlite'
    ? `SQLite in ${store.directory}`
    : `PostgreSQL at ${new URL(store.url).host}`;
}

start().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(1);
});
