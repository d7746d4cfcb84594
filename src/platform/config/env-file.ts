import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError } from './config-error.js';

/**
 * Adds the variables of `.env`, which has the syntax of `node --env-file`, to the environment in development, as
 * `NODE_ENV` says. What the environment has already takes precedence.
 *
 * @returns the names of the variables in the file, for the log
 */
export function readEnvFile(environment: NodeJS.ProcessEnv, file = '.env'): readonly string[] {
  if ((environment['NODE_ENV'] || 'development') !== 'development') return [];
  const variables = parseEnv(readIfExists(file));
  for (const [name, value] of Object.entries(variables)) environment[name] ??= value;
  return Object.keys(variables);
}

function readIfExists(file: string): string {
  try {
    // A byte order mark, as some editors write it, would belong to the first name.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new ConfigError(`${file} cannot be read (${code})`);
  }
}
