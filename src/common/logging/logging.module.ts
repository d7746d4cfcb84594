import { Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import type { Options } from 'pino-http';
import pretty from 'pino-pretty';
import { Config } from '../../config/config.js';

/** Nest's roll-call of modules and routes at start: only worth reading when something is wrong with it. */
const ROLL_CALL = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

const INFO = 30;

/** JSON lines on standard output, or lines for people when that is a terminal. */
@Module({
  imports: [
    LoggerModule.forRootAsync({
      inject: [Config],
      useFactory: ({ logLevel }: Config) => {
        const options: Options = {
          level: logLevel,
          base: null,
          hooks: {
            logMethod(args, method, level) {
              const [line] = args as [{ context?: string }];
              if (level === INFO && ROLL_CALL.has(line.context ?? '') && !this.isLevelEnabled('debug'))
                return;
              method.apply(this, args);
            },
          },
        };
        return {
          pinoHttp: process.stdout.isTTY ? [options, pretty({ sync: true })] : options,
          // Requests are logged by a Fastify hook (`request-log.ts`), not by a middleware.
          forRoutes: [],
        };
      },
    }),
  ],
})
export class LoggingModule {}
