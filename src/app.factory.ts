import { type Type, VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { createFastifyAdapter } from './common/http/fastify-adapter.js';
import { registerHttp } from './common/http/register-http.js';
import { createLogger } from './common/logging/create-logger.js';
import { bindInputPipe } from './common/validation/bind-input-pipe.js';
import type { Config } from './config/config.js';

/** The application, initialised and not listening yet: the one way to build it, for main and for every test. */
export async function createApp(config: Config, more: readonly Type[] = []): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.with(config, more),
    createFastifyAdapter(config),
    { logger: createLogger(config), bodyParser: false, abortOnError: false },
  );
  app.enableVersioning({ type: VersioningType.URI });
  registerHttp(app);
  bindInputPipe(app);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}
