import { type NestApplicationOptions, type Type, VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { createFastifyAdapter } from './platform/http/edge/fastify-adapter.js';
import { createLogger } from './platform/operations/create-logger.js';
import type { Config } from './platform/config/config.js';
import { registerPipeline } from './pipeline.js';

export interface AppOptions {
  /** Further modules; tests add routes of their own. */
  readonly modules?: readonly Type[];
  /** Called before `init()`: the place for WebSocket adapters, Fastify plugins and middleware. */
  readonly configure?: (app: NestFastifyApplication) => void | Promise<void>;
}

/** Builds the application: initialized, not listening yet. `start.ts` and every test use it. */
export async function createApp(
  config: Config,
  { modules = [], configure }: AppOptions = {},
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.with(config, modules),
    createFastifyAdapter(config),
    appOptions(config),
  );
  return initApp(app, configure);
}

/** Options of `NestFactory.create()`, and of `createNestApplication()` of a testing module. */
export const appOptions = (config: Config): NestApplicationOptions => ({
  logger: createLogger(config),
  bodyParser: false,
  abortOnError: false,
});

/** Everything between the creation of the application and its use. */
export async function initApp(
  app: NestFastifyApplication,
  configure?: AppOptions['configure'],
): Promise<NestFastifyApplication> {
  app.enableVersioning({ type: VersioningType.URI });
  try {
    await registerPipeline(app);
    await configure?.(app);
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    return app;
  } catch (error) {
    // Otherwise the connections of a failed start would keep its process running, and the database locked.
    await app.close().catch(() => undefined);
    throw error;
  }
}
