import type { Logger } from 'nestjs-pino';
import { createApp } from './app.js';
import { checkPorts, reservePort } from './platform/operations/check-ports.js';
import { stopOnSignals } from './platform/operations/stop-on-signals.js';
import { createLogger } from './platform/operations/create-logger.js';
import type { Config } from './platform/config/config.js';
import { describeStore } from './platform/config/store.js';

/**
 * Serves until a signal arrives.
 *
 * @param withPort returns the configuration with the port that was chosen for port 0, which links and events contain
 * @param inEnvFile the names of the variables in `.env`, for the log
 */
export async function start(
  initial: Config,
  withPort: (port: number) => Config,
  inEnvFile: readonly string[],
): Promise<void> {
  const reserved = initial.port === 0 ? await reservePort(initial.host) : undefined;
  const config = reserved ? withPort(reserved.port) : initial;
  const logger = createLogger(config);
  await checkPorts(config, reserved?.port);
  const app = await createApp(config);
  stopOnSignals(app);
  reserved?.release();
  await app.listen(config.port, config.host);
  if (inEnvFile.length > 0) logger.log(`.env was read: ${inEnvFile.join(', ')}`, 'Service');
  announce(config, logger, await app.getUrl());
}

function announce(config: Config, logger: Logger, url: string): void {
  const { production, writeAccess, store, graphql, mail, developmentNote } = config;
  if (production && writeAccess === 'open') {
    logger.warn('WRITE_ACCESS is open: anyone who reaches this service may change its data', 'Service');
  }
  if (mail.kind === 'none') {
    const message = 'SMTP_URL is not set: nobody can verify or change an e-mail, or reset a password';
    logger.warn(message, 'Service');
  }
  if (developmentNote) logger.log(developmentNote, 'Service');
  logger.log(`Ready on ${url}, data in ${describeStore(store)}`, 'Service');
  const playground = graphql.playground ? `, playground at ${url}/graphql` : '';
  logger.log(`Reference at ${url}/docs${playground}`, 'Service');
}
