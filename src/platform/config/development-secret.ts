import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.js';
import { makeDataFolder } from './data-folder.js';

const BYTES = 48;

/**
 * A random signing key, stored in the data folder so that tokens are valid after a restart.
 * For development only: production requires a configured secret, which all replicas share.
 *
 * @throws ConfigError if the file has other content
 */
export function developmentSecret(directory: string): string {
  const file = join(directory, 'jwt-secret');
  // A start with a key writes nothing: the disk may be full or read-only.
  if (!existsSync(file)) createSecret(directory, file);
  const secret = readFileSync(file, 'utf8');
  if (Buffer.from(secret, 'base64url').length < BYTES) {
    throw new ConfigError(`${file} contains no valid key; delete it, and the next start creates a new one`);
  }
  return secret;
}

/** A hard link is atomic: neither a crash nor a second process can read a partial key. */
function createSecret(directory: string, file: string): void {
  makeDataFolder(directory);
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, randomBytes(BYTES).toString('base64url'), { mode: 0o600 });
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
