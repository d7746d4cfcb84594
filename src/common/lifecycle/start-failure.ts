/** Failures whose message tells an operator all there is to know; others keep their stack. */
const SELF_EXPLANATORY = new Set(['ConfigError', 'DatabaseInUseError']);

/** What is printed when the service cannot start. */
export function explainStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (SELF_EXPLANATORY.has(error.name)) return error.message;
  const { code, address, port } = error as Error & { code?: string; address?: string; port?: number };
  if (code === 'EADDRINUSE') return `${address}:${port} is taken: another process listens there`;
  return error.stack ?? error.message;
}
