import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Parses the flags and words after a command. `--help` prints the usage and exits with 0, an unknown flag is
 * named and exits with 1. Call it before anything else. It imports nothing from `src`, so that scripts that are
 * not built can use it.
 */
export function parseCommandLine<T extends ParseArgsConfig>(
  usage: string,
  config: T = {} as T,
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
    console.error(`${message.split('. ', 1)[0]}\n\n${usage}`);
    return process.exit(1);
  }
}
