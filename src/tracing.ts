/**
 * Traces the service by the instrumentation of OpenTelemetry, if Node.js loads this file before it:
 * `NODE_OPTIONS="--import ./dist/tracing.js" node dist/main.js`. Nothing else imports OpenTelemetry.
 */
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';

// Commands, npm and threads have the same NODE_OPTIONS.
if (isMainThread && basename(process.argv[1] ?? '') === 'main.js') {
  const { startTracing } = await import('./start-tracing.js');
  startTracing();
}
