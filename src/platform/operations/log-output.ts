import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import sonicBoom, { type SonicBoom } from 'sonic-boom';

/** Lines that standard output has not accepted yet, in bytes. Beyond that they are lost, so that memory is bounded. */
const MAX_WAITING = 16 * 1024 * 1024;

/** How long a stop waits until all lines are written, and an exit afterwards, in milliseconds. */
const FLUSH_TIMEOUT = 1000;
const EXIT_TIMEOUT = 500;

let output: SonicBoom | undefined;

/**
 * Where the log goes: standard output, one for the process, because the lines of two could mix. It writes outside the
 * event loop, so that neither a slow reader nor a full disk stops the service: lines wait until they are accepted.
 */
export const logOutput = (): SonicBoom => (output ??= openOutput());

/** Waits until all lines are written, for at most a second. A process that exits without it may lose the last ones. */
export async function flushLog(): Promise<void> {
  if (!output) return;
  const flushed = new Promise<void>((resolve) => output!.flush(() => resolve()));
  await Promise.race([flushed, sleep(FLUSH_TIMEOUT, undefined, { ref: false })]);
}

function openOutput(): SonicBoom {
  let lost = 0;
  let isBroken = false;
  let giveUpAt = Infinity;
  const opened = new sonicBoom.SonicBoom({
    fd: process.stdout.fd,
    // `flush` waits only if there is a minimum; this one delays no line.
    minLength: 1,
    maxLength: MAX_WAITING,
    retryEAGAIN: () => performance.now() < giveUpAt,
  });
  // The next line tries again. Without a listener, the error would end the process.
  opened.on('error', () => (isBroken = true));
  opened.on('write', () => (isBroken = false));
  opened.on('drop', () => lost++);
  opened.on('drain', () => {
    if (lost === 0) return;
    new Logger('Log').warn(`${lost} lines of the log were lost, because standard output did not accept them`);
    lost = 0;
  });
  process.once('exit', () => {
    giveUpAt = performance.now() + EXIT_TIMEOUT;
    // On a full disk, it would retry forever.
    if (isBroken) return;
    try {
      opened.flushSync();
    } catch {
      // The reader is stuck.
    }
  });
  return opened;
}
