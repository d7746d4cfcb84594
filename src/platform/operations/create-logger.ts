import { Logger, type Params, PinoLogger } from 'nestjs-pino';
import type { Options } from 'pino-http';
import type { Config } from '../config/config.js';
import { requestFields } from '../http/request-context.js';
import { logOutput } from './log-output.js';
import pretty, { type PrettyOptions } from 'pino-pretty';

/** Nest's list of modules and routes at start, logged for debugging only. */
const ROLL_CALL = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'GraphQLModule',
]);

/** DEL and the C1 control characters, which JSON does not escape. */
const C1 = /[\u007f-\u009f]/g;

const asJson = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** What parses the line must not turn it into the character again. */
const asText = (character: string): string => `\\${asJson(character)}`;

/** Logs the stack of a failed start, which `main` has reported already. */
const REPETITION = 'ExceptionHandler';

/**
 * The logger of the process: JSON lines on standard output, or readable lines on a terminal.
 * Modules use Nest's `new Logger(MyService.name)`.
 */
export function createLogger({ logLevel }: Config): Logger {
  const isTerminal = process.stdout.isTTY;
  const options: Options = {
    level: logLevel,
    base: null,
    // The line of a request has these fields already, unless there is a trace: copying it would take as long as writing it.
    mixinMergeStrategy: (line: object, fields: object) =>
      'requestId' in line && !('trace_id' in fields) ? line : Object.assign(fields, line),
    mixin: requestFields,
    serializers: { err: describeError },
    // Otherwise the serializer of pino-http runs first, and logs every value of the error.
    wrapSerializers: false,
    hooks: {
      // Terminals take these characters for commands, and a client may send them in a header.
      streamWrite: (line) => line.replaceAll(C1, isTerminal ? asText : asJson),
      logMethod(args, method) {
        const { context = '' } = args[0] as { context?: string };
        if (context === REPETITION) return;
        if (ROLL_CALL.has(context) && !this.isLevelEnabled('debug')) return;
        method.apply(this, args);
      },
    },
  };
  const params: Params = { pinoHttp: [options, isTerminal ? readableLines() : logOutput()] };
  return new Logger(new PinoLogger(params), params);
}

/** Only fields that never contain data: a driver's error also has the values of the row. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, code, cause } = error as Error & { code?: unknown };
  return { type: name, message, code, stack, cause: cause && describeError(cause) };
}

/** Fields that are part of the message, or that nobody needs on a terminal. */
const HIDDEN = [
  'context',
  'requestId',
  'clientRequestId',
  'method',
  'route',
  'path',
  'status',
  'milliseconds',
  'aborted',
  'address',
  'agent',
  'accountId',
];

/**
 * Writes the log for people: one line for each entry, with its color, such as `GET /v1/posts/7 200 in 1.2 ms` for a
 * request. Only an error has more lines, its stack.
 */
export const readableLines = (options: Pick<PrettyOptions, 'destination' | 'colorize'> = {}) =>
  pretty({
    ...options,
    sync: true,
    singleLine: true,
    ignore: HIDDEN.join(','),
    messageFormat: (line, _key, _level, { colors }) => {
      const { context, msg = '', method, path, status, milliseconds } = line as Record<string, string>;
      if (method === undefined) return context === undefined ? msg : `${context}: ${msg}`;
      const color = { 2: colors.green, 3: colors.cyan, 4: colors.yellow, 5: colors.red }[String(status)[0]!];
      return `${method} ${path} ${color?.(String(status)) ?? 'aborted'} in ${milliseconds} ms`;
    },
  });
