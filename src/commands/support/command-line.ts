import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The flag of commands that ask a question. */
export const YES = { yes: { type: 'boolean', default: false } } as const;

/** Prints what is wrong with the flags or words, and exits with 1. */
export function rejectUsage(message: string): never {
  console.error(message);
  return process.exit(1);
}

/** Goes on without output when its reader has gone, as in `npm run seed | head -n 1`: the work would be half done. */
function outliveReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** The number of a flag; any other text ends the command with a sentence. */
export function parseNumber(flag: string, value: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const number = Number(value);
  if (/^\d{1,16}$/.test(value) && number >= min && number <= max) return number;
  const end = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  return rejectUsage(`${flag} must be a whole number from ${min}${end}`);
}

/** Like {@link parseFlags}, for a command, which finishes its work without a reader. Call it before anything else. */
export function parseCommandLine<T extends ParseArgsConfig>(
  usage: string,
  config: T = {} as T,
): ReturnType<typeof parseArgs<T>> {
  outliveReader();
  return parseFlags(usage, config);
}

/**
 * Parses the flags and words after a command. `--help` prints the usage and exits with 0, an unknown flag is
 * named and exits with 1. It imports nothing from `src`, so that scripts that are
 * not built can use it.
 */
export function parseFlags<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
    // After the first sentence, Node.js explains how to pass words that begin with a hyphen.
    return rejectUsage(`${message.split('. ', 1)[0]}\n\n${usage}`);
  }
}
