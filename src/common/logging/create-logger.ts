import { Logger, type Params, PinoLogger } from 'nestjs-pino';
import type { Logger as Pino } from 'pino';
import type { Options } from 'pino-http';
import pretty from 'pino-pretty';
import type { Config } from '../../config/config.js';

/** Nest's roll-call of modules and routes at start: only worth reading when something is wrong with it. */
const ROLL_CALL = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Says a second time, with a stack, what `main` says of a start that failed. */
const REPETITION = 'ExceptionHandler';

/**
 * The process's one logger: JSON lines on standard output, or lines for people when that is a terminal.
 * Modules write to it through Nest's own `new Logger(MyService.name)`.
 */
export function createLogger({ logLevel }: Config): Logger {
  const options: Options = {
    level: logLevel,
    base: null,
    hooks: {
      logMethod(args, method) {
        const { context = '' } = args[0] as { context?: string };
        if (context === REPETITION) return;
        if (ROLL_CALL.has(context) && !this.isLevelEnabled('debug')) return;
        method.apply(this, args);
      },
    },
  };
  const params: Params = { pinoHttp: process.stdout.isTTY ? [options, pretty({ sync: true })] : options };
  return new Logger(new PinoLogger(params), params);
}

/** The same logger without Nest's face, for lines on the hot path. */
export const rootLogger = (): Pino => PinoLogger.root;
