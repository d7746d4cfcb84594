import { ConfigError } from '../../config/config-error.js';
import { DatabaseInUseError } from '../../database/database-in-use.error.js';

/** What is printed when the service cannot start: a sentence where that is all there is to know, else the stack. */
export function explainStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError || error instanceof DatabaseInUseError) return error.message;
  const { code, address, port } = error as Error & { code?: string; address?: string; port?: number };
  if (code === 'EADDRINUSE') return `${address}:${port} is taken: another process listens there`;
  return error.stack ?? error.message;
}
