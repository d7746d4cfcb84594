import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
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

/**
 * Makes a file of SQLite readable for its owner only, before SQLite creates it, which would let everybody read it. The
 * other files of a database inherit that, even in a folder of wider access.
 */
export function makeFilePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // On a volume of a group, the file may have another owner, who decides about its access. From a read-only disk,
    // the service can still read.
    if (code !== 'EPERM' && !(code === 'EROFS' && existsSync(file))) throw error;
  }
}
