import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from './config-error.js';

/** Creates the folder with access for the service only. @throws ConfigError if it cannot */
export function makeDataFolder(directory: string): void {
  try {
    make(directory);
  } catch (error) {
    throw new ConfigError(`DATA_DIR cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** One folder at a time: `mkdirSync` with `recursive` does not return for a folder below `/proc`. */
function make(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new Error(`${directory} is a file`);
  make(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process has created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
