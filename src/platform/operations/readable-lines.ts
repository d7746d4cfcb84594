import pretty, { type PrettyOptions } from 'pino-pretty';

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
