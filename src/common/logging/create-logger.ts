import { Logger, type Params, PinoLogger } from 'nestjs-pino';
import type { Logger as Pino } from 'pino';
import type { Options } from 'pino-http';
import pretty from 'pino-pretty';
import type { Config } from '../../config/config.js';
import { traceFields } from '../tracing/spans.js';
import { requestFields } from './request-context.js';

/** Nest's roll-call of modules and routes at start: only worth reading when something is wrong with it. */
const ROLL_CALL = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'GraphQLModule',
]);

/** Says a second time, with a stack, what `main` says of a start that failed. */
const REPETITION = 'ExceptionHandler';

/**
 * The process's one logger: JSON lines on standard output, or lines for people when that is a terminal.
 * Modules write to it through Nest's own `new Logger(MyService.name)`.
 */
export function createLogger({ logLevel, tracing }: Config): Logger {
  const options: Options = {
    level: logLevel,
    base: null,
    mixin: tracing ? () => ({ ...requestFields(), ...traceFields() }) : requestFields,
    serializers: { err: describeError },
    // Otherwise pino-http has its own serializer read the error first, with every value in it.
    wrapSerializers: false,
    hooks: {
      logMethod(args, method) {
        const { context = '' } = args[0] as { context?: string };
        if (context === REPETITION) return;
        if (ROLL_CALL.has(context) && !this.isLevelEnabled('debug')) return;
        method.apply(this, args);
      },
    },
  };
  const params: Params = { pinoHttp: process.stdout.isTTY ? [options, forPeople()] : options };
  return new Logger(new PinoLogger(params), params);
}

/** A request is one line: `GET /v1/posts 200 in 1.2 ms`. */
function forPeople() {
  const fields = ['requestId', 'clientRequestId', 'method', 'route', 'status', 'milliseconds', 'aborted'];
  return pretty({
    sync: true,
    ignore: ['context', ...fields].join(','),
    messageFormat: (line) => {
      const { context, msg = '', method, route, status, milliseconds } = line as Record<string, string>;
      if (method !== undefined) {
        return `${method} ${route ?? '(no route)'} ${status ?? 'aborted'} in ${milliseconds} ms`;
      }
      return context === undefined ? msg : `${context}: ${msg}`;
    },
  });
}

/** Only what is known to hold no data: a driver's error also has the values of the row in question. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, code, cause } = error as Error & { code?: unknown };
  return { type: name, message, code, stack, cause: cause && describeError(cause) };
}

/** The same logger without Nest's face, for lines on the hot path. */
export const rootLogger = (): Pino => PinoLogger.root;
