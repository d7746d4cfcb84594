import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A random signing key, kept in the data folder so that tokens outlive a restart.
 * For trying out only: production has to bring its own, which all replicas share.
 */
export function developmentSecret(directory: string): string {
  const file = join(directory, 'jwt-secret');
  mkdirSync(directory, { recursive: true });
  try {
    writeFileSync(file, randomBytes(48).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8');
}
