import { mkdirSync } from 'node:fs';
import { ConfigError } from './config-error.js';

/** Makes the folder, which will hold what only the service may read. @throws ConfigError when it cannot */
export function makeDataFolder(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigError(`DATA_DIR cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
