/**
 * `npm run start:dev`: builds and starts the service, again after each change of a source. A build that fails is
 * printed, and the service continues to run. Ctrl-C ends everything.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../src/commands/support/command-line.ts';

/** An editor writes a file in several steps; in milliseconds. */
const SETTLED = 50;

parseCommandLine('Usage: npm run start:dev');

let service: ChildProcess | undefined;
const ending = new AbortController();
let hasChanged = true;
let wake = (): void => undefined;

const watchSources = () =>
  watch('src', { recursive: true }, (_, file) => {
    if (file?.endsWith('.spec.ts')) return;
    hasChanged = true;
    wake();
  });
let watcher = watchSources();

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    ending.abort();
    service?.kill(signal);
    wake();
  });
}

while (!ending.signal.aborted) {
  if (hasChanged) {
    await sleep(SETTLED);
    hasChanged = false;
    // On Linux, Node no longer reports the changes of a file that an editor has replaced.
    watcher.close();
    watcher = watchSources();
    if (await build()) await restart();
  } else {
    await new Promise<void>((done) => (wake = done));
  }
}
await stop();
process.exit();

async function build(): Promise<boolean> {
  const [code] = await once(run(['tools/build.ts', '--pages-later']), 'exit');
  return code === 0;
}

/** The port must be free before the next service starts. */
async function restart(): Promise<void> {
  await stop();
  // In a process group of its own: it would take Ctrl-C of the terminal and the signal from here for two, and exit at once.
  if (!ending.signal.aborted) service = run(['--enable-source-maps', 'dist/main.js'], { detached: true });
}

async function stop(): Promise<void> {
  if (!service || service.exitCode !== null || service.signalCode !== null) return;
  const exit = once(service, 'exit');
  if (!ending.signal.aborted) service.kill('SIGTERM');
  await exit;
}

function run(parameters: readonly string[], { detached = false } = {}): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', ...parameters], {
    detached,
    stdio: 'inherit',
    env: { DRAIN_DELAY_MS: '0', NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile'), ...process.env },
  });
}
